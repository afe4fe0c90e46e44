/* What a user of the installed library writes first; each part that was installed is linked. */
#include <leat/leat.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    printf("leat %s: %s\n", leat_version(), leat_error_message(LEAT_ECLOSED));
    return strcmp(leat_version(), EXPECTED_VERSION) == 0 ? 0 : 1;
}

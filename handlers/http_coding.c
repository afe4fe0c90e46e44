/* What content codings a client takes (RFC 9110 12.5.3). */
#include "handlers/http.h"

#include <string.h>
#include <strings.h>

/* A member of a list: what stands before its weight, and whether the weight is above 0. */
typedef struct choice {
    const char *name;
    size_t length;
    bool wanted;
} choice;

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t");
}

/* RFC 9110 12.4.2: a weight is 0 if it has no other digit. */
static bool is_weight_zero(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] >= '1' && text[i] <= '9')
            return false;
    return true;
}

static bool is_wanted(const char *parameters, const char *end) {
    while (parameters < end) {
        const char *name = skip_blanks(parameters + 1);
        size_t length = strcspn(name, ";,");
        if (length > 1 && (*name == 'q' || *name == 'Q') && name[1] == '=')
            return !is_weight_zero(name + 2, length - 2);
        parameters = name + length;
    }
    return true;
}

/* Takes the first member off a list; false = there is none. */
static bool next_choice(const char **list, choice *next) {
    *list += strspn(*list, " \t,");
    if (**list == '\0')
        return false;
    const char *end = *list + strcspn(*list, ",");
    *next = (choice){.name = *list, .length = strcspn(*list, " \t;,")};
    next->wanted = is_wanted(*list + strcspn(*list, ";,"), end);
    *list = end;
    return true;
}

static bool names(const choice *member, const char *coding) {
    return member->length == strlen(coding) && strncasecmp(member->name, coding, member->length) == 0;
}

bool leat_http_request_accepts_coding(const leat_http_request *request, const char *coding) {
    bool any = false;
    for (size_t i = 0; i < request->field_count; i++) {
        const char *list = request->fields[i].value;
        if (strcasecmp(request->fields[i].name, "Accept-Encoding") != 0)
            continue;
        for (choice member; next_choice(&list, &member);) {
            if (names(&member, coding))
                return member.wanted;
            any = any || (names(&member, "*") && member.wanted);
        }
    }
    return any;
}

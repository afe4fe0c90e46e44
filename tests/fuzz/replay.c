/* Runs a fuzz target without libFuzzer: over each file of the folders given, and over fixed mutations of each. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 1 << 20, MUTATIONS = 64 };

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* The input goes in as a block of exactly its size, so that a sanitizer sees a read past it. */
static void run_exactly(const uint8_t *data, size_t size) {
    uint8_t *copy = calloc(1, size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_mutations(uint8_t *data, size_t size) {
    uint64_t random = size;
    for (size_t i = 0; size && i < MUTATIONS; i++) {
        size_t at = next_random(&random) % size;
        uint8_t before = data[at];
        data[at] = (uint8_t)next_random(&random);
        run_exactly(data, size - (i % 4 == 0 ? next_random(&random) % size : 0));
        data[at] = before;
    }
}

static int run_file(const char *folder, const char *name, uint8_t *data) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t size = fread(data, 1, LARGEST_INPUT, file);
    fclose(file);
    run_exactly(data, size);
    run_mutations(data, size);
    return 1;
}

static int run_folder(const char *folder, uint8_t *data) {
    DIR *open = opendir(folder);
    int files = 0;
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (entry->d_name[0] != '.')
            files += run_file(folder, entry->d_name, data);
    if (open)
        closedir(open);
    return files;
}

int main(int count, char **folders) {
    uint8_t *data = calloc(1, LARGEST_INPUT);
    if (!data)
        return 1;
    int files = 0;
    run_exactly(data, 0);
    for (int i = 1; i < count; i++)
        files += run_folder(folders[i], data);
    printf("replayed %d files and %d mutations of each\n", files, MUTATIONS);
    free(data);
    return 0;
}

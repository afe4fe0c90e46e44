#include "app.h"

/* page.html as numbers, made by CMake. */
const unsigned char push_page[] = {
#include "page.inc"
};

const size_t push_page_size = sizeof push_page;

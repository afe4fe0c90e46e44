/** The work of the rows of text that is written, for arms of other libraries too. */
#ifndef LEAT_BENCH_TEXT_H
#define LEAT_BENCH_TEXT_H

#include "bench/harness.h"

/** How many texts the rows of appends write. */
enum { TEXT_APPENDS = 4 };

typedef struct text_work {
    size_t length;
    bool checked;   /**< not known to be ASCII */
    bool foreign;   /**< a character of two bytes now and then */
    bool unpooled;  /**< else from a pool, as a loop has one */
    size_t reserve; /**< before each append: 0, or three bytes a character */
} text_work;

/** Makes the text; free() it. Ends the program when memory runs out. */
char *text_make(const text_work *work);

#endif

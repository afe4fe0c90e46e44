#ifndef SHOUT_H
#define SHOUT_H

#include <leat/leat.h>

/** Inbound: each message, a line of text, goes on in capitals (ASCII). */
extern const leat_handler shout;

#endif

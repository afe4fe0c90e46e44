/** The handlers of docs/guide.md. */
#ifndef GUIDE_H
#define GUIDE_H

#include <leat/leat.h>

extern const leat_handler upper;
extern const leat_handler packets;

#endif

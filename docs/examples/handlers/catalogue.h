#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <leat/leat.h>

extern const leat_stage lines[], threes[], delimited[], length_fields[], varints[], joined_lines[];
extern const leat_stage events_out[], events_in[], legacy_out[], legacy_in[];
extern const leat_stage compressed[], asking[];
extern const leat_stage heartbeats[], timed[], slow[], watched[];

leat_msg tick(leat_alloc *alloc);

#endif

/** All of core. */
#ifndef LEAT_CORE_LEAT_H
#define LEAT_CORE_LEAT_H

#include "core/bytebuf_array.h"
#include "core/channel.h"
#include "core/channel_ref.h"
#include "core/composite.h"
#include "core/embedded.h"
#include "core/gather.h"
#include "core/group.h"
#include "core/loop.h"
#include "core/pool.h"
#include "core/recorder.h"
#include "core/text.h"
#include "core/transport.h"
#include "core/verify.h"

#endif

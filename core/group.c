#include "core/group.h"

#include "core/channel_internal.h"

struct leat_group {
    leat_alloc *alloc;
    leat_channel **members;
    size_t count, room;
};

leat_group *leat_group_new(leat_alloc *alloc) {
    leat_group *group = leat_alloc_take_zeroed(alloc, sizeof *group);
    if (group)
        group->alloc = alloc;
    return group;
}

static channel_membership *membership_in(const leat_channel *channel, const leat_group *group) {
    channel_membership *membership = channel->memberships;
    while (membership && membership->group != group)
        membership = membership->next;
    return membership;
}

static bool make_room(leat_group *group) {
    if (group->count < group->room)
        return true;
    size_t room = group->room ? group->room * 2 : 16;
    leat_channel **members = leat_alloc_take(group->alloc, room * sizeof(leat_channel *), NULL);
    if (!members)
        return false;
    for (size_t i = 0; i < group->count; i++)
        members[i] = group->members[i];
    leat_alloc_give(group->alloc, group->members, group->room * sizeof(leat_channel *));
    group->members = members;
    group->room = room;
    return true;
}

int leat_group_add(leat_group *group, leat_channel *channel) {
    leat_assert_thread(channel->loop);
    if (channel_has(channel, CHANNEL_CLOSE_ASKED | CHANNEL_ABORTED | CHANNEL_BROKEN | CHANNEL_ENDED))
        return LEAT_ECLOSED;
    if (membership_in(channel, group))
        return LEAT_OK;
    channel_membership *membership = leat_alloc_take(group->alloc, sizeof *membership, NULL);
    if (!membership || !make_room(group)) {
        leat_alloc_give(group->alloc, membership, sizeof *membership);
        return LEAT_ENOMEM;
    }
    *membership = (channel_membership){.next = channel->memberships, .group = group, .index = group->count};
    channel->memberships = membership;
    group->members[group->count++] = channel;
    return LEAT_OK;
}

/* The last member takes the place of the one that leaves. */
static void leave(leat_group *group, channel_membership *membership) {
    size_t index = membership->index;
    leat_channel *last = group->members[--group->count];
    group->members[index] = last;
    if (index < group->count)
        membership_in(last, group)->index = index;
}

void leat_group_remove(leat_group *group, leat_channel *channel) {
    channel_membership **link = &channel->memberships;
    while (*link && (*link)->group != group)
        link = &(*link)->next;
    channel_membership *membership = *link;
    if (!membership)
        return;
    leave(group, membership);
    *link = membership->next;
    leat_alloc_give(group->alloc, membership, sizeof *membership);
}

void leat_channel_leave_groups(leat_channel *channel) {
    while (channel->memberships)
        leat_group_remove(channel->memberships->group, channel);
}

size_t leat_group_size(const leat_group *group) {
    return group->count;
}

leat_channel *leat_group_at(const leat_group *group, size_t index) {
    return index < group->count ? group->members[index] : NULL;
}

size_t leat_group_write(leat_group *group, leat_msg msg) {
    size_t written = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!leat_channel_is_writable(group->members[i]))
            continue;
        leat_channel_write(group->members[i], leat_msg_retain(msg), NULL);
        written++;
    }
    leat_msg_release(msg);
    return written;
}

void leat_group_close(leat_group *group) {
    for (size_t i = 0; i < group->count; i++)
        leat_channel_close(group->members[i]);
}

void leat_group_free(leat_group *group) {
    if (!group)
        return;
    while (group->count > 0)
        leat_group_remove(group, group->members[group->count - 1]);
    leat_alloc_give(group->alloc, group->members, group->room * sizeof(leat_channel *));
    leat_alloc_give(group->alloc, group, sizeof *group);
}

#include "core/group.h"

#include "core/channel_internal.h"

struct leat_group {
    leat_alloc *alloc;
    leat_channel **members;
    size_t count, room;
    unsigned walks; /* broadcasts under way: who leaves meanwhile leaves a hole, so nobody is missed or met twice */
    size_t holes;
};

leat_group *leat_group_new(leat_alloc *alloc) {
    leat_group *group = leat_alloc_take_zeroed(alloc, sizeof *group);
    if (group)
        group->alloc = alloc;
    return group;
}

static channel_membership *membership_in(const leat_channel *channel, const leat_group *group) {
    channel_membership *membership = channel->extras ? channel->extras->memberships : NULL;
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
    channel_extras *extras = leat_channel_extras(channel);
    channel_membership *membership = extras ? leat_alloc_take(group->alloc, sizeof *membership, NULL) : NULL;
    if (!membership || !make_room(group)) {
        leat_alloc_give(group->alloc, membership, sizeof *membership);
        return LEAT_ENOMEM;
    }
    *membership = (channel_membership){.next = extras->memberships, .group = group, .index = group->count};
    extras->memberships = membership;
    group->members[group->count++] = channel;
    return LEAT_OK;
}

/* The last member takes the place of the one that leaves. */
static void fill(leat_group *group, size_t index) {
    leat_channel *last = group->members[--group->count];
    group->members[index] = last;
    if (last && index < group->count)
        membership_in(last, group)->index = index;
}

static void leave(leat_group *group, size_t index) {
    if (group->walks == 0) {
        fill(group, index);
        return;
    }
    group->members[index] = NULL;
    group->holes++;
}

static void end_walk(leat_group *group) {
    if (--group->walks > 0 || group->holes == 0)
        return;
    for (size_t i = group->count; i-- > 0;)
        if (!group->members[i])
            fill(group, i);
    group->holes = 0;
}

void leat_group_remove(leat_group *group, leat_channel *channel) {
    if (!membership_in(channel, group))
        return;
    channel_membership **link = &channel->extras->memberships;
    while ((*link)->group != group)
        link = &(*link)->next;
    channel_membership *membership = *link;
    *link = membership->next;
    leave(group, membership->index);
    leat_alloc_give(group->alloc, membership, sizeof *membership);
}

void leat_channel_leave_groups(leat_channel *channel) {
    while (channel->extras && channel->extras->memberships)
        leat_group_remove(channel->extras->memberships->group, channel);
}

size_t leat_group_size(const leat_group *group) {
    return group->count - group->holes;
}

leat_channel *leat_group_at(const leat_group *group, size_t index) {
    return index < group->count ? group->members[index] : NULL;
}

/* Who joins meanwhile is not met. */
size_t leat_group_write(leat_group *group, leat_msg msg) {
    size_t written = 0, count = group->count;
    group->walks++;
    for (size_t i = 0; i < count; i++) {
        leat_channel *member = group->members[i];
        if (!member || !leat_channel_is_writable(member))
            continue;
        leat_channel_write(member, leat_msg_retain(msg), NULL);
        written++;
    }
    end_walk(group);
    leat_msg_release(msg);
    return written;
}

void leat_group_close(leat_group *group) {
    size_t count = group->count;
    group->walks++;
    for (size_t i = 0; i < count; i++)
        if (group->members[i])
            leat_channel_close(group->members[i]);
    end_walk(group);
}

void leat_group_free(leat_group *group) {
    if (!group)
        return;
    while (group->count > 0)
        leat_group_remove(group, group->members[group->count - 1]);
    leat_alloc_give(group->alloc, group->members, group->room * sizeof(leat_channel *));
    leat_alloc_give(group->alloc, group, sizeof *group);
}

#include "tests/support/suite.h"
#include "transports/address.h"

#include <string.h>

static leat_address resolve(const char *text) {
    leat_address address = {0};
    ck_assert_int_ge(leat_address_resolve(text, &address, 1, NULL), 1);
    return address;
}

static const char *round_trip(const char *text) {
    static char out[LEAT_ADDRESS_TEXT];
    leat_address address = resolve(text);
    ck_assert_uint_lt(leat_address_format(&address, out, sizeof out), sizeof out);
    return out;
}

START_TEST(numeric_addresses_of_both_versions_come_back_as_written) {
    static const char *const texts[] = {"127.0.0.1:0", "10.1.2.3:65535", "[::1]:80", "[::]:7000", "[2001:db8::1]:443"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_str_eq(round_trip(texts[i]), texts[i]);
}
END_TEST

START_TEST(a_star_is_every_interface_of_both_versions) {
    leat_address both[2];
    ck_assert_int_eq(leat_address_resolve("*:80", both, 2, NULL), 2);
    ck_assert_int_eq(both[0].family, 6);
    ck_assert_int_eq(both[1].family, 4);
    ck_assert_int_eq(both[0].port, 80);
    ck_assert_int_eq(both[1].port, 80);
}
END_TEST

START_TEST(localhost_is_a_loopback_address) {
    leat_address address = resolve("localhost:1");
    ck_assert(leat_address_is_loopback(&address));
}
END_TEST

START_TEST(what_has_no_host_or_no_port_is_refused_with_a_reason) {
    static const char *const texts[] = {"",         "80",        ":80",    "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                                        "host:-1",  "host: 1",   "::1:80", "[]:80",     "[::1]80",    "host:80x",
                                        "host:1e3", "host:0x10", "[:80",   "a:b:c:80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        leat_problem problem = {0};
        leat_address address;
        ck_assert_int_eq(leat_address_resolve(texts[i], &address, 1, &problem), LEAT_EINVAL);
        ck_assert_int_eq(problem.code, LEAT_EINVAL);
        ck_assert_ptr_nonnull(strstr(problem.text, "host:port"));
    }
}
END_TEST

START_TEST(a_host_too_long_for_any_name_is_refused) {
    char text[600];
    memset(text, 'a', sizeof text);
    memcpy(text + sizeof text - 4, ":80", 4);
    leat_address address;
    ck_assert_int_eq(leat_address_resolve(text, &address, 1, NULL), LEAT_EINVAL);
}
END_TEST

START_TEST(a_name_that_cannot_exist_is_not_found) {
    leat_problem problem = {0};
    leat_address address;
    ck_assert_int_eq(leat_address_resolve("256.0.0.1.:80", &address, 1, &problem), LEAT_ENOTFOUND);
    ck_assert_ptr_nonnull(strstr(problem.text, "256.0.0.1."));
}
END_TEST

START_TEST(loopback_is_told_from_the_rest) {
    static const char *const loopbacks[] = {"127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"};
    static const char *const others[] = {"128.0.0.1:1", "0.0.0.0:1",           "[::]:1",
                                         "[::2]:1",     "[::ffff:10.0.0.1]:1", "[7f00::]:1"};
    for (size_t i = 0; i < sizeof loopbacks / sizeof *loopbacks; i++) {
        leat_address address = resolve(loopbacks[i]);
        ck_assert(leat_address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        leat_address address = resolve(others[i]);
        ck_assert(!leat_address_is_loopback(&address));
    }
}
END_TEST

int main(void) {
    return suite_run(
        "address", (const TTest *const[]){numeric_addresses_of_both_versions_come_back_as_written,
                                          a_star_is_every_interface_of_both_versions, localhost_is_a_loopback_address,
                                          what_has_no_host_or_no_port_is_refused_with_a_reason,
                                          a_host_too_long_for_any_name_is_refused,
                                          a_name_that_cannot_exist_is_not_found, loopback_is_told_from_the_rest, NULL});
}

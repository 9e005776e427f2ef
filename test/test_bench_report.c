/* SPDX-License-Identifier: MIT */
/* test_bench_report.c - results: written and read again, refused where they are none. What is
 * read from stored files is tested by bench_compare.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/report.h"

static const struct bench_times base = {1, 1.125, 1.25, 1.5, 0}, twice = {2, 2.25, 2.5, 3, 4};

/* A name in a folder that is there: the test's own. */
static char *path_of(const char *program) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s.json", program);
    return path;
}
static const char *path;

static void results_are_read_as_they_were_written(void **state) {
    struct bench_report r, again;
    struct bench_complaint why;
    (void)state;
    bench_report_open(&r, "test", 11);
    bench_report_fact(&r, "a peer", "2.0 \"final\" \xc2\xb5");
    bench_report_add(&r, "group", "workload", "C", "primal", &base)->size = 30;
    struct bench_row *row =
        bench_report_add(&r, "group", "workload", "Wengert", "derivative", &twice);
    bench_row_over(row, &base, "primal");
    strcpy(row->shape, "30-2");
    row->bytes = 4096;
    assert_int_equal(bench_report_write(&r, path), 0);
    assert_int_equal(bench_report_read(&again, path, &why), 0);
    assert_int_equal(again.facts, r.facts);
    for (size_t i = 0; i < r.facts; i++)
        assert_string_equal(bench_report_find(&again, r.fact[i].key), r.fact[i].value);
    assert_string_equal(bench_report_find(&again, "samples"), "11");
    assert_null(bench_report_find(&again, "samplers"));
    assert_int_equal(again.rows, 2);
    assert_string_equal(again.row[0].quantity, "primal");
    assert_true(again.row[0].size == 30 && isnan(again.row[0].ratio));
    assert_string_equal(again.row[1].shape, "30-2");
    assert_string_equal(again.row[1].over, "primal");
    assert_true(again.row[1].ratio == 2 && again.row[1].bytes == 4096);
    assert_true(isnan(again.row[1].ns_per_statement));
    assert_true(again.row[0].seconds.disturbed == 0);
    assert_memory_equal(&again.row[1].seconds, &twice, sizeof twice);
    bench_report_close(&again);
    bench_report_close(&r);
    assert_int_equal(remove(path), 0);
}

static void results_are_put_as_they_are(void **state) {
    struct bench_report r;
    struct bench_row row;
    (void)state;
    memset(&row, 0, sizeof row);
    strcpy(row.group, "group");
    row.seconds = base;
    bench_report_open(&r, "test", 11);
    for (int i = 0; i < 100; i++) {
        row.size = i;
        bench_report_put(&r, &row);
    }
    assert_int_equal(r.rows, 100);
    assert_true(r.row[99].size == 99 && r.row[99].seconds.median == base.median);
    assert_string_equal(r.row[99].group, "group");
    bench_report_close(&r);
}

static void many_results_are_kept(void **state) {
    struct bench_report r;
    char name[16];
    (void)state;
    bench_report_open(&r, "test", 7);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        bench_report_add(&r, "group", name, "C", "primal", &base);
    }
    assert_int_equal(r.rows, 1000);
    assert_string_equal(r.row[0].workload, "0");
    assert_string_equal(r.row[999].workload, "999");
    bench_report_close(&r);
    assert_int_equal(r.rows, 0);
}

/* A long text is cut, but no character in two, so that the file is still one. */
static void long_texts_are_cut_between_characters(void **state) {
    struct bench_report r, again;
    struct bench_complaint why;
    char text[600];
    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = "\xc3\xa4"[i % 2];
    text[sizeof text - 1] = '\0';
    bench_report_open(&r, "test", 7);
    bench_report_fact(&r, "even", text);
    bench_report_fact(&r, "odd", text + 2);
    bench_report_add(&r, "x", text, text, text, &base);
    assert_int_equal(strlen(bench_report_find(&r, "even")) % 2, 0);
    assert_int_equal(bench_report_write(&r, path), 0);
    assert_int_equal(bench_report_read(&again, path, &why), 0);
    assert_string_equal(again.row[0].tool, r.row[0].tool);
    bench_report_close(&again);
    bench_report_close(&r);
    assert_int_equal(remove(path), 0);
}

static void what_cannot_be_read_is_said(void **state) {
    static const char *const files[][2] = {
        {"", "end of file"},
        {"[]", "not of the format"},
        {"{\"format\": 1}", "not of the format"},
        {"{\"format\": \"wengert bench 1\"}", "environment: an object"},
        {"{\"format\": \"wengert bench 1\", \"environment\": {}}", "results: an array"},
        {"{\"format\": \"wengert bench 1\", \"environment\": {}, \"results\": [3]}",
         "result 1: group: a text"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct bench_report r;
        struct bench_complaint why = {""};
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fputs(files[i][0], f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(bench_report_read(&r, path, &why), -1);
        if (!strstr(why.text, files[i][1])) fail_msg("%s: %s", files[i][0], why.text);
        bench_report_close(&r);
    }
    assert_int_equal(remove(path), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_read_as_they_were_written),
        cmocka_unit_test(results_are_put_as_they_are),
        cmocka_unit_test(many_results_are_kept),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(what_cannot_be_read_is_said),
    };
    (void)argc;
    path = path_of(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The tool for GradBench: whatever arrives gets a response, with what was wrong in words. */
#include "../bench/gradbench/gradbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *respond(const char *line) {
    const struct gb_options o = {.threads = NULL};
    json_t *r = gb_respond(line, strlen(line), &o);
    assert_non_null(r);
    return r;
}

static void start_names_the_tool(void **state) {
    (void)state;
    json_t *r = respond("{\"id\": 7, \"kind\": \"start\", \"eval\": \"hello\"}\n");
    assert_int_equal(json_integer_value(json_object_get(r, "id")), 7);
    assert_string_equal(json_string_value(json_object_get(r, "tool")), "wengert");
    json_decref(r);
}

static void every_module_of_the_suite_is_defined(void **state) {
    (void)state;
    static const char *const suite[] = {"hello", "ba",  "det",  "gmm", "ht",       "kmeans",
                                        "llsq",  "lse", "lstm", "ode", "particle", "saddle"};
    for (size_t k = 0; k < sizeof suite / sizeof *suite; k++) {
        char line[96];
        snprintf(line, sizeof line, "{\"id\": 1, \"kind\": \"define\", \"module\": \"%s\"}",
                 suite[k]);
        json_t *r = respond(line);
        if (!json_is_true(json_object_get(r, "success"))) fail_msg("%s is missing", suite[k]);
        assert_null(json_object_get(r, "error"));
        json_decref(r);
    }
}

static void an_evaluation_has_its_output_and_timings(void **state) {
    (void)state;
    json_t *r = respond("{\"id\": 2, \"kind\": \"evaluate\", \"module\": \"hello\", "
                        "\"function\": \"double\", \"input\": 1.5}");
    assert_true(json_is_true(json_object_get(r, "success")));
    assert_true(json_real_value(json_object_get(r, "output")) == 3.0);
    const json_t *timings = json_object_get(r, "timings");
    assert_int_equal(json_array_size(timings), 2);
    static const char *const names[] = {"prepare", "evaluate"};
    for (size_t k = 0; k < 2; k++) {
        const json_t *t = json_array_get(timings, k);
        assert_string_equal(json_string_value(json_object_get(t, "name")), names[k]);
        assert_true(json_is_integer(json_object_get(t, "nanoseconds")));
    }
    json_decref(r);
}

/* As often as the message asks for, and as long. */
static void runs_are_as_many_as_are_asked_for(void **state) {
    (void)state;
    json_t *r = respond(
        "{\"id\": 2, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": "
        "\"primal\", \"input\": {\"x\": [0.5, 1], \"min_runs\": 5, \"min_seconds\": 0}}");
    assert_true(json_is_true(json_object_get(r, "success")));
    assert_int_equal(json_array_size(json_object_get(r, "timings")), 1 + 5);
    json_decref(r);
    r = respond(
        "{\"id\": 2, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": "
        "\"primal\", \"input\": {\"x\": [0.5, 1], \"min_runs\": 1, \"min_seconds\": 0.01}}");
    const json_t *timings = json_object_get(r, "timings");
    double elapsed = 0;
    for (size_t k = 1; k < json_array_size(timings); k++)
        elapsed += (double)json_integer_value(
            json_object_get(json_array_get(timings, k), "nanoseconds"));
    /* each is cut to whole nanoseconds */
    assert_true(elapsed + (double)json_array_size(timings) >= 0.01 * 1e9);
    json_decref(r);
}

/* A line, and what the error has to say. */
static void wrong_messages_are_answered_in_words(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"junk", "not a JSON text"},
        {"{\"id\": 1", "not a JSON text"},
        {"[1, 2]", "a message is an object"},
        {"null", "a message is an object"},
        {"{\"id\": 1}", "kind: is missing"},
        {"{\"id\": 1, \"kind\": \"define\"}", "module: is missing"},
        {"{\"id\": 1, \"kind\": \"define\", \"module\": \"nothing\"}",
         "module nothing is not known"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\"}", "function: is missing"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"cube\"}",
         "module hello has no function cube"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\"}",
         "input: is missing"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\", "
         "\"input\": \"two\"}",
         "input: a number is wanted"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\", "
         "\"input\": 1e300}",
         "not finite"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": \"primal\", "
         "\"input\": {}}",
         "x: is missing"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": \"primal\", "
         "\"input\": {\"x\": 3}}",
         "x: an array is wanted, not a whole number"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": \"primal\", "
         "\"input\": {\"x\": [1, \"a\"]}}",
         "x[1]: a number is wanted, not a string"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": \"primal\", "
         "\"input\": {\"x\": [1], \"min_runs\": 0}}",
         "min_runs: at least 1 is wanted"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"lse\", \"function\": \"primal\", "
         "\"input\": {\"x\": [1], \"min_runs\": 1.5}}",
         "min_runs: a whole number"},
        {"{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"kmeans\", \"function\": \"cost\", "
         "\"input\": {\"points\": [[1, 2], [3]], \"centroids\": [[0, 0]]}}",
         "points[1]: 2 entries are wanted, not 1"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        json_t *r = respond(wrong[k][0]);
        assert_true(json_is_false(json_object_get(r, "success")));
        assert_null(json_object_get(r, "output"));
        const char *said = json_string_value(json_object_get(r, "error"));
        if (!said || !strstr(said, wrong[k][1]))
            fail_msg("%s: said %s", wrong[k][0], said ? said : "nothing");
        json_decref(r);
    }
}

/* Texts that are quoted in part: cut within a character, or none at all. */
static void whatever_bytes_are_quoted_the_answer_is_utf_8(void **state) {
    (void)state;
    enum { LONG = 70 };
    char name[2 * LONG + 1] = "", line[4][300];
    for (size_t k = 0; k < LONG; k++) memcpy(name + 2 * k, "\xc3\xa9", 3);
    snprintf(line[0], sizeof line[0], "{\"id\":1,\"kind\":\"define\",\"module\":\"a%s\"}",
             name);
    snprintf(line[1], sizeof line[1],
             "{\"id\":1,\"kind\":\"evaluate\",\"module\":\"hello\",\"function\":\"a%s\"}",
             name);
    snprintf(line[2], sizeof line[2], "\"\\\xc3\xa9");
    snprintf(line[3], sizeof line[3], "{\"\xff\xfe\": \xed\xa0\x80\xf5}");
    static const char *const said[] = {"module a\xc3\xa9", "function a\xc3\xa9",
                                       "not a JSON text", "not a JSON text"};
    for (size_t k = 0; k < 4; k++) {
        json_t *r = respond(line[k]);
        assert_true(json_is_false(json_object_get(r, "success")));
        const char *error = json_string_value(json_object_get(r, "error"));
        if (!error || !strstr(error, said[k])) fail_msg("line %zu: %s", k, error ? error : "");
        char *text = json_dumps(r, 0);
        assert_non_null(text);
        free(text);
        json_decref(r);
    }
}

/* Messages that ask for nothing, and kinds that may come: the id is enough. */
static void other_messages_are_acknowledged(void **state) {
    (void)state;
    static const char *const lines[] = {
        "{\"id\": 3, \"kind\": \"analysis\", \"of\": 2, \"valid\": true}",
        "{\"id\": 3, \"kind\": \"end\"}", "{\"id\": 3, \"kind\": \"greeting\"}"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        json_t *r = respond(lines[k]);
        assert_int_equal(json_object_size(r), 1);
        assert_int_equal(json_integer_value(json_object_get(r, "id")), 3);
        json_decref(r);
    }
}

static void numbers_make_the_round_trip(void **state) {
    (void)state;
    static const double x[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 4};
    const size_t n[] = {2, sizeof x / sizeof *x / 2};
    json_t *object = json_pack("{s:o}", "x", gb_array(x, 2, n));
    char *text = json_dumps(object, JSON_REAL_PRECISION(17));
    json_decref(object);
    assert_non_null(text);
    object = json_loads(text, 0, NULL);
    free(text);
    struct gb_error e;
    size_t dims[] = {GB_ANY, GB_ANY};
    double *y = gb_numbers(object, "x", 2, dims, &e);
    assert_non_null(y);
    assert_memory_equal(dims, n, sizeof n);
    assert_memory_equal(x, y, sizeof x);
    free(y);
    json_decref(object);
}

static void whole_numbers_are_looked_at(void **state) {
    (void)state;
    static const char *const wrong[] = {"[1.5]", "[-1]", "[4]", "[1e300]", "[[1]]", "{}"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        json_t *object = json_pack("{s:o}", "i", json_loads(wrong[k], 0, NULL));
        struct gb_error e = {""};
        size_t n = GB_ANY;
        assert_null(gb_indices(object, "i", 1, &n, 4, &e));
        assert_non_null(strstr(e.text, "i"));
        json_decref(object);
    }
    json_t *object = json_loads("{\"i\": [0, 3.0, 2], \"none\": []}", 0, NULL);
    struct gb_error e;
    size_t n = GB_ANY, none[] = {GB_ANY, GB_ANY};
    assert_null(gb_indices(object, "i", 1, &n, 0, &e)); /* below nothing */
    assert_non_null(strstr(e.text, "i[0]: nothing is there"));
    size_t *i = gb_indices(object, "i", 1, &n, 4, &e);
    assert_int_equal(n, 3);
    assert_true(i && i[0] == 0 && i[1] == 3 && i[2] == 2);
    free(i);
    double *x = gb_numbers(object, "none", 2, none, &e);
    assert_non_null(x);
    assert_true(none[0] == 0 && none[1] == 0);
    free(x);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_names_the_tool),
        cmocka_unit_test(every_module_of_the_suite_is_defined),
        cmocka_unit_test(an_evaluation_has_its_output_and_timings),
        cmocka_unit_test(runs_are_as_many_as_are_asked_for),
        cmocka_unit_test(wrong_messages_are_answered_in_words),
        cmocka_unit_test(whatever_bytes_are_quoted_the_answer_is_utf_8),
        cmocka_unit_test(other_messages_are_acknowledged),
        cmocka_unit_test(numbers_make_the_round_trip),
        cmocka_unit_test(whole_numbers_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

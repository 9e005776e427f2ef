/* SPDX-License-Identifier: MIT */
/* Structures by value and by pointer, nested ones, and results that are structures.
 * options: --function energy --with-respect-to b.position.x,b.position.y,b.mass --of return
 * inputs: 0.6 0.8 2.5
 * outputs: 1
 * given: struct body b = {.number = 7, .mass = in[2], .position = {in[0], in[1]}};
 * call: out[0] = energy(b);
 * arguments: .b = b
 */
typedef struct vector {
    double x, y;
} vector;
struct body {
    int number;
    double mass;
    vector position, velocity;
};

static vector scaled(vector v, double by) {
    vector r = {v.x * by, v.y * by};
    return r;
}
static double dot(const vector *a, const vector *b) { return a->x * b->x + a->y * b->y; }
static void kick(struct body *b, vector force) {
    b->velocity.x += force.x / b->mass;
    b->velocity.y += force.y / b->mass;
}

double energy(struct body b) {
    struct body moved = b;
    vector force = scaled(b.position, -1 / dot(&b.position, &b.position));
    moved.velocity = (vector){0.5, -0.25};
    kick(&moved, force);
    return 0.5 * moved.mass * dot(&moved.velocity, &moved.velocity) + b.number;
}

/* SPDX-License-Identifier: MIT */
/* Pointers to pointers to numbers in structures that are arguments, in arrays that are
 * parameters, and walked.
 * options: --function f --with-respect-to s.in[0:2][0:2],m->row[0][0:1],last[1][0:1] --of s.out[1][0:2]
 * inputs: 1.25 -0.5 2.5 0.75 1.5 -2
 * outputs: 2
 * given: double first[2] = {in[0], in[1]}, second[2] = {in[2], in[3]}, to[2] = {7, 9}, factors[3] = {1, 2, 3}, third[1] = {in[4]}, half[1] = {0.5}, fourth[1] = {in[5]};
 * given: double *ins[2] = {first, second}, *outs[2] = {0, to}, *works[1] = {factors}, *rows[1] = {third}; struct io io = {ins, outs, works, 2}; struct matrix matrix = {1, rows};
 * call: f(io, &matrix, (const row[]){half, fourth}); out[0] = to[0]; out[1] = to[1];
 * arguments: .s = io, .s_in_counts = (size_t[]){2, 2}, .s_out_counts = (size_t[]){0, 2}, .s_work_count = 1, .s_work_counts = (size_t[]){3}, .m = &matrix, .m_row_counts = (size_t[]){1}, .last = (const row[]){half, fourth}, .last_counts = (size_t[]){1, 1}
 */
struct io {
    double **in, *const *out, **work;
    int n;
};
struct matrix {
    int n;
    double **row;
};
typedef double *row;

static double sum(double **row, int n) {
    double s = 0, **const end = row + n;
    for (double **p = row; p < end; p++) s += **p * *(*p + 1);
    return s * **row;
}
void f(struct io s, struct matrix *m, const row last[2]) {
    *m->row[0] *= *last[1] * **last;
    for (int i = 0; i < s.n; i++) {
        s.work[0][i] *= s.in[i][0] * s.work[0][2];
        s.out[1][i] = *s.in[i] * s.in[1][i] + **s.work * *m->row[0];
    }
    s.out[1][1] += sum(s.in, s.n);
}

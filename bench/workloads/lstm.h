/* SPDX-License-Identifier: MIT */
/* lstm - the loss of a diagonal long short-term memory network predicting a sequence, as in
 * ADBench (Srajer, Kukelova, Fitzgibbon 2018); log(2 + sum exp) is theirs.
 *
 * Inputs: of each layer 4 b weights then 4 b biases (forget, in, out, change), then 3 b of the
 * ends: weight in, weight out, bias out. Data: the first hidden states and cells (2 b a layer),
 * and the sequence, b numbers each. */
#ifndef WENGERT_BENCH_LSTM_H
#define WENGERT_BENCH_LSTM_H
struct lstm_params {
    size_t layers, chars, bits;
    const double *state;    /* of each layer hidden then cell, bits each */
    const double *sequence; /* chars-by-bits */
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* One layer, in place: hidden and cell after input. */
static inline void WG_NAME(lstm_layer)(wg_tape *t, size_t b, const wg_real *weight,
                                       const wg_real *bias, wg_real *hidden, wg_real *cell,
                                       const wg_real *input) {
    (void)t;
    for (size_t i = 0; i < b; i++) {
        wg_real forget = wg_let(t, wg_sigmoid(wg_add(wg_mul(input[i], weight[i]), bias[i])));
        cell[i] = wg_let(
            t, wg_add(wg_mul(cell[i], forget),
                      wg_mul(wg_sigmoid(wg_add(wg_mul(hidden[i], weight[b + i]), bias[b + i])),
                             wg_tanh(wg_add(wg_mul(hidden[i], weight[3 * b + i]),
                                            bias[3 * b + i])))));
        hidden[i] = wg_let(
            t, wg_mul(wg_sigmoid(wg_add(wg_mul(input[i], weight[2 * b + i]), bias[2 * b + i])),
                      wg_tanh(cell[i])));
    }
}

static __attribute__((unused)) wg_real WG_NAME(lstm)(wg_tape *t, const void *params,
                                                     const wg_real *in, wg_real *work) {
    const struct lstm_params *p = (const struct lstm_params *)params;
    (void)t;
    const size_t b = p->bits, layers = p->layers;
    const wg_real *ends = in + 8 * layers * b;
    wg_real *state = work, *input = work + 2 * layers * b, *y = input + b;
    wg_real total = wg_constant(0.0);
    for (size_t i = 0; i < 2 * layers * b; i++) state[i] = wg_constant(p->state[i]);
    for (size_t c = 0; c + 1 < p->chars; c++) {
        const double *now = p->sequence + c * b, *gold = now + b;
        const wg_real *below = input;
        for (size_t i = 0; i < b; i++) input[i] = wg_let(t, wg_mul(now[i], ends[i]));
        for (size_t l = 0; l < layers; l++) {
            const wg_real *weight = in + 8 * l * b;
            wg_real *hidden = state + 2 * l * b;
            WG_NAME(lstm_layer)(t, b, weight, weight + 4 * b, hidden, hidden + b, below);
            below = hidden;
        }
        for (size_t i = 0; i < b; i++)
            y[i] = wg_let(t, wg_add(wg_mul(below[i], ends[b + i]), ends[2 * b + i]));
        wg_real sum = wg_constant(2.0);
        double golden = 0;
        size_t i = 0;
        for (; i + 4 <= b; i += 4) {
            sum = wg_let(t, wg_add(sum, wg_add(wg_add(wg_exp(y[i]), wg_exp(y[i + 1])),
                                               wg_add(wg_exp(y[i + 2]), wg_exp(y[i + 3])))));
            total = wg_let(t, wg_add(total, wg_add(wg_add(wg_mul(gold[i], y[i]),
                                                          wg_mul(gold[i + 1], y[i + 1])),
                                                   wg_add(wg_mul(gold[i + 2], y[i + 2]),
                                                          wg_mul(gold[i + 3], y[i + 3])))));
            golden += gold[i] + gold[i + 1] + gold[i + 2] + gold[i + 3];
        }
        for (; i < b; i++) {
            sum = wg_let(t, wg_add(sum, wg_exp(y[i])));
            total = wg_let(t, wg_add(total, wg_mul(gold[i], y[i])));
            golden += gold[i];
        }
        total = wg_let(t, wg_sub(total, wg_mul(golden, wg_log(sum))));
    }
    return wg_let(t, wg_mul(-1.0 / ((double)(p->chars - 1) * (double)b), total));
}

#ifdef BENCH_ONCE
/* A case whose x, state and sequence are still zero. */
int bench_lstm_case(struct bench_case *b, size_t layers, size_t chars, size_t bits, double **x,
                    double **state, double **sequence) {
    struct lstm_params *p = bench_alloc(b, 1, sizeof *p);
    b->n = b->entries = (8 * layers + 3) * bits;
    b->m = 1;
    b->work = (2 * layers + 2) * bits;
    b->scratch_len = (chars * (7 * layers + 3) + 2 * layers + 2) * bits;
    b->scratch = bench_doubles(b, b->scratch_len);
    *x = bench_doubles(b, b->n);
    *state = bench_doubles(b, 2 * layers * bits);
    *sequence = bench_doubles(b, chars * bits);
    if (!p || !b->scratch || !*x || !*state || !*sequence) return -1;
    p->layers = layers;
    p->chars = chars;
    p->bits = bits;
    p->state = *state;
    p->sequence = *sequence;
    b->x = *x;
    b->params = p;
    return 0;
}

static int lstm_case(struct bench_case *b, size_t layers, size_t chars, size_t bits) {
    double *x, *state, *sequence;
    if (bench_lstm_case(b, layers, chars, bits, &x, &state, &sequence)) return -1;
    uint64_t seed = 7;
    for (size_t i = 0; i < b->n; i++) x[i] = bench_uniform(&seed, 0, 1);
    for (size_t i = 0; i < 2 * layers * bits; i++) state[i] = bench_uniform(&seed, 0, 1);
    for (size_t i = 0; i < chars * bits; i++)
        sequence[i] = (bench_uniform(&seed, 0, 1) < 0.5 ? 0 : 1);
    return 0;
}

/* What the backward pass needs of one layer at one character. */
struct lstm_kept {
    double *forget, *in, *out, *change, *cell, *squashed, *hidden; /* cell, hidden: before */
};

static struct lstm_kept lstm_kept(double *at, size_t b) {
    struct lstm_kept k = {at,         at + b,     at + 2 * b, at + 3 * b,
                          at + 4 * b, at + 5 * b, at + 6 * b};
    return k;
}

static double lstm_sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void lstm_handwritten(const struct bench_case *c, double *g) {
    const struct lstm_params *p = (const struct lstm_params *)c->params;
    const size_t b = p->bits, layers = p->layers, last = p->chars - 1;
    const size_t stride =
        (7 * layers + 3) * b; /* of a character: layers, input, top, softmax */
    const double *x = c->x, *ends = x + 8 * layers * b;
    const double scale = -1.0 / ((double)last * (double)b);
    double *kept = c->scratch, *state = kept + p->chars * stride,
           *inputb = state + 2 * layers * b;
    double *endsb = g + 8 * layers * b;
    memcpy(state, p->state, 2 * layers * b * sizeof *state);
    for (size_t i = 0; i < last; i++) {
        double *input = kept + i * stride + 7 * layers * b, *top = input + b, *soft = top + b;
        const double *below = input;
        for (size_t j = 0; j < b; j++) input[j] = p->sequence[i * b + j] * ends[j];
        for (size_t l = 0; l < layers; l++) {
            const struct lstm_kept k = lstm_kept(kept + i * stride + 7 * l * b, b);
            const double *w = x + 8 * l * b, *bias = w + 4 * b;
            double *hidden = state + 2 * l * b, *cell = hidden + b;
            for (size_t j = 0; j < b; j++) {
                const double in = below[j];
                k.hidden[j] = hidden[j];
                k.cell[j] = cell[j];
                k.forget[j] = lstm_sigmoid(in * w[j] + bias[j]);
                k.in[j] = lstm_sigmoid(hidden[j] * w[b + j] + bias[b + j]);
                k.out[j] = lstm_sigmoid(in * w[2 * b + j] + bias[2 * b + j]);
                k.change[j] = tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]);
                cell[j] = cell[j] * k.forget[j] + k.in[j] * k.change[j];
                k.squashed[j] = tanh(cell[j]);
                hidden[j] = k.out[j] * k.squashed[j];
            }
            below = hidden;
        }
        double sum = 2;
        for (size_t j = 0; j < b; j++) {
            top[j] = below[j];
            soft[j] = exp(top[j] * ends[b + j] + ends[2 * b + j]);
            sum += soft[j];
        }
        for (size_t j = 0; j < b; j++) soft[j] /= sum;
    }
    memset(g, 0, c->n * sizeof *g);
    memset(state, 0, 2 * layers * b * sizeof *state); /* now adjoints */
    for (size_t i = last; i-- > 0;) {
        const double *input = kept + i * stride + 7 * layers * b, *top = input + b;
        const double *soft = top + b, *gold = p->sequence + (i + 1) * b;
        double golden = 0;
        for (size_t j = 0; j < b; j++) golden += gold[j];
        double *topb = state + 2 * (layers - 1) * b;
        for (size_t j = 0; j < b; j++) {
            const double yb = scale * (gold[j] - golden * soft[j]);
            endsb[b + j] += yb * top[j];
            endsb[2 * b + j] += yb;
            topb[j] += yb * ends[b + j];
        }
        for (size_t l = layers; l-- > 0;) {
            const struct lstm_kept k = lstm_kept(kept + i * stride + 7 * l * b, b);
            const double *w = x + 8 * l * b;
            double *wb = g + 8 * l * b, *biasb = wb + 4 * b;
            double *hiddenb = state + 2 * l * b, *cellb = hiddenb + b;
            /* what came in from below: the hidden state after that layer, or the input */
            const struct lstm_kept under =
                lstm_kept(kept + i * stride + 7 * (l ? l - 1 : 0) * b, b);
            double *belowb = (l ? hiddenb - 2 * b : inputb);
            if (l == 0) memset(inputb, 0, b * sizeof *inputb);
            for (size_t j = 0; j < b; j++) {
                const double in = (l ? under.out[j] * under.squashed[j] : input[j]);
                const double cb =
                    cellb[j] + hiddenb[j] * k.out[j] * (1 - k.squashed[j] * k.squashed[j]);
                const double ob = hiddenb[j] * k.squashed[j] * k.out[j] * (1 - k.out[j]);
                const double fb = cb * k.cell[j] * k.forget[j] * (1 - k.forget[j]);
                const double ib = cb * k.change[j] * k.in[j] * (1 - k.in[j]);
                const double hb = cb * k.in[j] * (1 - k.change[j] * k.change[j]);
                cellb[j] = cb * k.forget[j];
                hiddenb[j] = ib * w[b + j] + hb * w[3 * b + j];
                belowb[j] += fb * w[j] + ob * w[2 * b + j];
                wb[j] += fb * in;
                wb[b + j] += ib * k.hidden[j];
                wb[2 * b + j] += ob * in;
                wb[3 * b + j] += hb * k.hidden[j];
                biasb[j] += fb;
                biasb[b + j] += ib;
                biasb[2 * b + j] += ob;
                biasb[3 * b + j] += hb;
            }
        }
        for (size_t j = 0; j < b; j++) endsb[j] += inputb[j] * p->sequence[i * b + j];
    }
}
#endif

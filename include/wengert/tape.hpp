/* SPDX-License-Identifier: MIT */
/* Tapes and functions as objects of C++: they own what they hold, and move. Included by
 * active.hpp.
 *
 * Both convert to the pointers of the interface for C, all of which can be called with them.
 * What fails has a wg_status. It is thrown as a wg::error, or returned, as a tape is told when
 * it is made; compiled without exceptions it is always returned. */
#ifndef WENGERT_TAPE_HPP
#define WENGERT_TAPE_HPP

#include <wengert/active.hpp>
#include <wengert/derive.h>
#include <wengert/drivers.h>
#include <wengert/function.h>

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#pragma GCC system_header

namespace wg {

/* A status and the message of the tape, which names the operation and the shapes. */
class error : public std::exception {
  public:
    error(wg_status status, const std::string &text) : status_(status), text_(text) {}
    wg_status status() const noexcept { return status_; }
    const char *what() const noexcept override { return text_.c_str(); }

  private:
    wg_status status_;
    std::string text_;
};

enum class on_failure { throws, returns };

/* A function recorded from a callback (function.h); empty at first. */
class function {
  public:
    function() noexcept : f_(nullptr) {}
    explicit function(wg_function *owned) noexcept : f_(owned) {}
    function(function &&other) noexcept : f_(other.f_) { other.f_ = nullptr; }
    function &operator=(function &&other) noexcept {
        std::swap(f_, other.f_);
        return *this;
    }
    ~function() { wg_function_free(f_); }
    operator const wg_function *() const noexcept { return f_; }
    /* Where a call writes a new function to; the one that was there is freed. */
    wg_function **out() noexcept {
        wg_function_free(f_);
        f_ = nullptr;
        return &f_;
    }

  private:
    wg_function *f_;
};

class tape {
  public:
    /* flags: WG_KEEP_CODE | ... Without memory for it: std::bad_alloc, or empty and WG_ENULL of
     * all that is done with it. */
    explicit tape(unsigned flags = 0, on_failure how = on_failure::throws) : how_(how) {
        wg_options options = wg_options();
        options.flags = flags;
        open(options);
    }
    explicit tape(const wg_options &options, on_failure how = on_failure::throws) : how_(how) {
        open(options);
    }
    tape(tape &&other) noexcept : t_(other.t_), how_(other.how_) { other.t_ = nullptr; }
    tape &operator=(tape &&other) noexcept {
        std::swap(t_, other.t_);
        std::swap(how_, other.how_);
        return *this;
    }
    ~tape() { wg_tape_free(t_); }
    operator wg_tape *() const noexcept { return t_; }

    /* The status of a call, thrown if it is a failure and this tape throws. */
    wg_status check(wg_status s) const {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
        if (s != WG_OK && how_ == on_failure::throws) {
            const char *const text = wg_tape_message(t_);
            throw error(s, text[0] != 0 ? text : wg_status_text(s));
        }
#endif
        return s;
    }

    active input(double x) { return wg_input(t_, x); }
    /* x, a number so far, is an input from now on. */
    void input(active &x) { x = wg_input(t_, value(x)); }

    /* Forgets all variables; memory is kept. */
    void reset() { wg_tape_reset(t_); }
    wg_mark mark() const { return wg_tape_mark(t_); }
    wg_status rewind(wg_mark m) { return check(wg_tape_rewind(t_, m)); }

    wg_status reverse(const active &y) { return check(wg_reverse(t_, y)); }
    double adjoint(const active &x) const { return wg_adjoint(t_, x); }
    /* An expression is no variable that has been swept. */
    template <int N_, int L_, int B_>
    double adjoint(const expression<N_, L_, B_> &x) const = delete;

    /* Drivers: what f records is swept, and the tape is left empty. What f throws is thrown. */

    /* f: const std::vector<active> & -> active;  value (NULL: not wanted) and gradient. */
    template <class F_>
    wg_status gradient(F_ &&f, const std::vector<double> &x, double *value,
                       std::vector<double> &g) {
        scalar_call<F_> call(f);
        g.resize(x.size());
        double v = 0;
        const wg_status s =
            wg_gradient(t_, call.callback, &call, x.size(), x.data(), &v, g.data());
        if (s == WG_OK && value != nullptr) *value = v;
        return call.finish(*this, s);
    }
    template <class F_> std::vector<double> gradient(F_ &&f, const std::vector<double> &x) {
        std::vector<double> g;
        if (gradient(f, x, nullptr, g) != WG_OK) g.assign(x.size(), WGI_NAN);
        return g;
    }
    /* The Hessian, n-by-n, row after row, of a tape with WG_KEEP_CODE. */
    template <class F_>
    wg_status hessian(F_ &&f, const std::vector<double> &x, std::vector<double> &h) {
        scalar_call<F_> call(f);
        std::vector<double> g(x.size());
        double v = 0;
        h.resize(x.size() * x.size());
        return call.finish(*this, wg_hessian(t_, call.callback, &call, x.size(), x.data(), &v,
                                             g.data(), h.data(), x.size()));
    }
    /* f: const std::vector<active> & -> std::vector<active>, which says how many there are when
     * it is called once without derivatives;  values and Jacobian, m-by-n, row after row. */
    template <class F_>
    wg_status jacobian(F_ &&f, const std::vector<double> &x, std::vector<double> &y,
                       std::vector<double> &jac) {
        vector_call<F_> call(f);
        {
            const scope none(nullptr);
            y.resize(f(std::vector<active>(x.begin(), x.end())).size());
        }
        jac.resize(y.size() * x.size());
        return call.finish(*this, wg_jacobian(t_, call.callback, &call, x.size(), x.data(),
                                              y.size(), y.data(), WG_ROW_MAJOR, jac.data(),
                                              x.size() > 0 ? x.size() : 1));
    }
    /* f as a function of one input of as many entries as x has and one output of m
     * (function.h). */
    template <class F_>
    wg_status record(F_ &&f, const std::vector<double> &x, std::size_t m, function &to) {
        vector_call<F_> call(f);
        const wg_argument in = {nullptr, x.size(), 1, 0}, out = {nullptr, m, 1, 0};
        return call.finish(*this, wg_function_record(t_, call.callback, &call, 1, &in, x.data(),
                                                     1, &out, to.out()));
    }

  private:
    void open(const wg_options &options) {
        t_ = wg_tape_new(&options);
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
        if (t_ == nullptr && how_ == on_failure::throws) throw std::bad_alloc();
#endif
    }

    /* What is thrown while C code is below waits until that has returned. */
    template <class F_> struct any_call {
        F_ &f;
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
        std::exception_ptr thrown;
#endif
        explicit any_call(F_ &of) : f(of) {}
        template <class Work> wg_status guarded(wg_tape *t, Work work) {
            const scope here(t);
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
            try {
                return work();
            } catch (...) {
                thrown = std::current_exception();
                return WG_ECALLBACK;
            }
#else
            return work();
#endif
        }
        wg_status finish(const tape &t, wg_status s) {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
            if (thrown) std::rethrow_exception(thrown);
#endif
            return t.check(s);
        }
    };
    template <class F_>
    struct scalar_call : any_call<typename std::remove_reference<F_>::type> {
        using any_call<typename std::remove_reference<F_>::type>::any_call;
        static wg_status callback(wg_tape *t, size_t n, const wg_real *x, size_t, wg_real *y,
                                  void *data) {
            scalar_call *const c = static_cast<scalar_call *>(data);
            return c->guarded(t, [&] {
                y[0] = active(c->f(std::vector<active>(x, x + n)));
                return WG_OK;
            });
        }
    };
    template <class F_>
    struct vector_call : any_call<typename std::remove_reference<F_>::type> {
        using any_call<typename std::remove_reference<F_>::type>::any_call;
        static wg_status callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
            vector_call *const c = static_cast<vector_call *>(data);
            return c->guarded(t, [&]() -> wg_status {
                const std::vector<active> of = c->f(std::vector<active>(x, x + n));
                if (of.size() != m) return WG_ESHAPE;
                for (std::size_t i = 0; i < m; i++) y[i] = of[i];
                return WG_OK;
            });
        }
    };

    wg_tape *t_;
    on_failure how_;
};

} // namespace wg

#endif

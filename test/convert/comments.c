/* SPDX-License-Identifier: MIT */
/* Layout, names and comments of the user stay where they are.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
/* Above the function. */
double f( double   x )   // the GNU way
{
  double r ;       /* a result */

  /* a block of its own */
  {
    r = x*x          // first
      + 3.0*x        // second
      ;
  }

  if ( r>1.0 )
    r = r/2 ;        /* halved */
  return ( r ) ;
}

/* SPDX-License-Identifier: MIT */
/* generate_text.h - a part of the program generate. */
#ifndef WGI_OPS_SCALAR_GENERATE_TEXT_H
#define WGI_OPS_SCALAR_GENERATE_TEXT_H

void write_special_text(void);
void write_dense_text(void);

#endif

/* SPDX-License-Identifier: MIT */
/* kinds.h - the kinds of nodes as an enumeration and as a table: kinds.def. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_KINDS_H
#define WGI_TAPE_FUNCTION_GRAPH_KINDS_H

#define KIND_BASE(NAME, ...) WGI_NODE_##NAME,
#define KIND_NODE(NAME, ...) WGI_NODE_##NAME,
#define KIND_WHOLE(NAME, ...) WGI_NODE_##NAME,
typedef enum {
#include "kinds.def"
    WGI_NODE_KINDS
} wgi_node_kind;

/* What the columns of kinds.def hold; the head of that file explains them. */
enum { WGI_FORM_BASE, WGI_FORM_NODE, WGI_FORM_WHOLE };
enum {
    WGI_HOLDS_VALUE = 1,
    WGI_HOLDS_SCALAR = 2,
    WGI_HOLDS_ARRAY = 4,
    WGI_HOLDS_MATRICES = 8,
    WGI_HOLDS_PART = 16,
    WGI_HOLDS_WHOLE = 32
};
enum { WGI_OPERANDS_OF_OP = 253, WGI_OPERANDS_ANY, WGI_OPERANDS_OWN };
enum { WGI_NAN_HIDES, WGI_NAN_SHOWS, WGI_NAN_BY_OP };
enum { WGI_ORDER_LINEAR, WGI_ORDER_PRODUCT, WGI_ORDER_BY_OP, WGI_ORDER_CURVED };
enum { WGI_COST_NOTHING, WGI_COST_ADDITION, WGI_COST_BY_OP, WGI_COST_CALL, WGI_COST_OWN };

typedef struct wgi_node_kind_row {
    const char *stem, *word, *text;
    unsigned char form, code, since, holds, operands, nan, order, cost;
} wgi_node_kind_row;
extern const wgi_node_kind_row wgi_node_kinds[WGI_NODE_KINDS];

#endif

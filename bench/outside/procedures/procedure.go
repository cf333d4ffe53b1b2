package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A task is one task of a domain, as far as it is read here.
type task struct {
	Goal    string `json:"user_goal"`
	Graph   graph  `json:"directed_action_graph"`
	Succeed any    `json:"action_should_succeed"` // true, false, 1 or 0
}

// permits reports whether the goal of the task may be reached at all.
func (t *task) permits() bool { return t.Succeed == true || t.Succeed == 1.0 }

// A graph has functions and operators as nodes; what a node needs is connected to it.
type graph struct {
	Nodes       []json.RawMessage `json:"nodes"`
	Connections [][2]int          `json:"connections"`
}

// A tree is what must have been called before a function: a function with its
// parameters, or an operator over trees. Parameters are named by variables; equal
// variables stand for equal values.
type tree struct {
	Op       string // "and", "or" or "" for a function
	Function string
	Vars     map[string]string // of the parameters of the function
	Kids     []*tree
}

// A procedure is a function with what must be called before it.
type procedure struct {
	Function string
	Vars     map[string]string
	Needs    *tree // nil: nothing
}

// leaves counts the functions of the tree.
func (t *tree) leaves() int {
	if t == nil {
		return 0
	}
	n := 0
	if t.Op == "" {
		n = 1
	}
	for _, k := range t.Kids {
		n += k.leaves()
	}
	return n
}

// maxDepth bounds the depth of a tree: a graph with a circle has none.
const maxDepth = 100

// tree returns the node with what it is made of. The needs of a function are another
// procedure.
func (g *graph) tree(node, depth int) (*tree, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("node %d: the graph has a circle", node)
	}
	if node < 0 || node >= len(g.Nodes) {
		return nil, fmt.Errorf("there is no node %d", node)
	}
	t := &tree{}
	if json.Unmarshal(g.Nodes[node], &t.Op) != nil {
		pair := []any{&t.Function, &t.Vars}
		if err := json.Unmarshal(g.Nodes[node], &pair); err != nil || len(pair) != 2 {
			return nil, fmt.Errorf("node %d is neither an operator nor a function with its parameters", node)
		}
		return t, nil
	}
	switch t.Op {
	case "and", "chain":
		t.Op = "and"
	case "or", "gate":
		t.Op = "or"
	default:
		return nil, fmt.Errorf("node %d: unknown operator %q", node, t.Op)
	}
	for _, c := range g.Connections {
		if c[0] == node {
			k, err := g.tree(c[1], depth+1)
			if err != nil {
				return nil, err
			}
			t.Kids = append(t.Kids, k)
		}
	}
	return t, nil
}

// procedures returns one procedure for each function of the graph.
func (g *graph) procedures() ([]procedure, error) {
	var all []procedure
	for i := range g.Nodes {
		t, err := g.tree(i, 0)
		if err != nil {
			return nil, err
		}
		if t.Op != "" {
			continue
		}
		p := procedure{Function: t.Function, Vars: t.Vars}
		for _, c := range g.Connections {
			if c[0] != i {
				continue
			}
			if p.Needs, err = g.tree(c[1], 0); err != nil {
				return nil, err
			}
			break // a function has at most one
		}
		all = append(all, p)
	}
	return all, nil
}

// A domain has the procedure of each function.
type domain map[string]procedure

// read adds the procedures of all tasks. Of several procedures of one function the one
// with the most functions counts: the others leave conditions out.
func (d domain) read(tasks map[string][]task, in implied) error {
	for _, service := range slices.Sorted(maps.Keys(tasks)) {
		for i := range tasks[service] {
			all, err := tasks[service][i].Graph.procedures()
			if err != nil {
				return fmt.Errorf("task %d of %s: %w", i, service, err)
			}
			for _, p := range all {
				if known, ok := d[p.Function]; !ok || p.Needs.leaves() > known.Needs.leaves() {
					d[p.Function] = p
				}
			}
		}
	}
	for name, p := range d {
		p.Needs = in.widen(p.Needs)
		d[name] = p
	}
	return nil
}

// implied lists, for a function, those whose success says that its conditions hold too,
// with the names that their parameters have there: a login shows that the user exists.
type implied map[string][]implication

// An implication is one function that a success implies.
type implication struct {
	Function   string            `json:"function"`
	Parameters map[string]string `json:"parameters"` // of the function, as the successful call names them
}

// widen lets each function of the tree be replaced by one that implies it.
func (in implied) widen(t *tree) *tree {
	if t == nil {
		return nil
	}
	if t.Op != "" {
		wide := &tree{Op: t.Op}
		for _, k := range t.Kids {
			wide.Kids = append(wide.Kids, in.widen(k))
		}
		return wide
	}
	wide := &tree{Op: "or", Kids: []*tree{t}}
	for _, by := range slices.Sorted(maps.Keys(in)) {
		for _, i := range in[by] {
			if i.Function != t.Function {
				continue
			}
			vars := make(map[string]string)
			for own, theirs := range i.Parameters {
				if v, ok := t.Vars[own]; ok {
					vars[theirs] = v
				}
			}
			wide.Kids = append(wide.Kids, &tree{Function: by, Vars: vars})
		}
	}
	if len(wide.Kids) == 1 {
		return t
	}
	return wide
}

// with is the domain with the procedures of one task in the place of its own.
func (d domain) with(t *task, in implied) (domain, error) {
	all, err := t.Graph.procedures()
	if err != nil {
		return nil, err
	}
	own := maps.Clone(d)
	for _, p := range all {
		p.Needs = in.widen(p.Needs)
		own[p.Function] = p
	}
	return own, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// A task is a user's request in the benchmark. It has only the fields of the benchmark's format
// that are needed here.
type task struct {
	Goal    string `json:"user_goal"`
	Graph   graph  `json:"directed_action_graph"`
	Succeed any    `json:"action_should_succeed"` // true, false, 1 or 0
}

// permits reports whether the benchmark expects the task to succeed.
func (t *task) permits() bool { return t.Succeed == true || t.Succeed == 1.0 }

// A graph has functions and operators as nodes. Each node has edges to the nodes it requires.
type graph struct {
	Nodes       []json.RawMessage `json:"nodes"`
	Connections [][2]int          `json:"connections"`
}

// A tree is the condition for calling a function. It combines functions that must be called first,
// using AND and OR operators. Parameters with the same variable must have equal values.
type tree struct {
	Op       string // "and", "or", or "" for a function
	Function string
	Vars     map[string]string // maps each parameter of the function to its variable
	Kids     []*tree
}

// A procedure is a function together with the calls that must precede it.
type procedure struct {
	Function string
	Vars     map[string]string
	Needs    *tree // nil if nothing is required
}

// leaves returns the number of functions in the tree.
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

// maxDepth is the maximum depth of a tree. It is exceeded only if the graph has a cycle.
const maxDepth = 100

// tree converts a node to a condition. A node with a function becomes a leaf: the calls that this
// function requires belong to its own procedure.
func (g *graph) tree(node, depth int) (*tree, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("node %d: the graph has a cycle", node)
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

// procedures returns a procedure for each function in the graph.
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
		if edge := slices.IndexFunc(g.Connections, func(c [2]int) bool { return c[0] == i }); edge >= 0 { // in the benchmark's format, a function has at most one outgoing edge
			if p.Needs, err = g.tree(g.Connections[edge][1], 0); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// A domain maps the name of each function to its procedure.
type domain map[string]procedure

// read adds the procedures of all tasks. If tasks have different procedures for the same function,
// read keeps the one with the most functions, because the others leave out conditions.
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

// implied maps a function to the functions whose success is implied by its own success. For
// example, a successful login proves that the user exists.
type implied map[string][]implication

// An implication names a function whose success is implied by the success of another function.
type implication struct {
	Function   string            `json:"function"`
	Parameters map[string]string `json:"parameters"` // maps parameters of Function to the parameters of the other function that have the same values
}

// widen replaces each function in the tree with an OR of that function and the functions that imply
// it.
func (in implied) widen(t *tree) *tree {
	if t == nil {
		return nil
	}
	if t.Op != "" {
		return &tree{Op: t.Op, Kids: list.Map(t.Kids, in.widen)}
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

// withTask returns a copy of the domain with the procedures of task t added. They replace the
// domain's procedures for the same functions.
func (d domain) withTask(t *task, in implied) (domain, error) {
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

package policytest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// A policyCase is a policy and a sequence of events to play under it.
type policyCase struct {
	Name    string            `json:"name"`
	Rules   string            `json:"rules"`
	Nets    []json.RawMessage `json:"nets"`
	Active  []string          `json:"active"`
	Default string            `json:"default"`
	Mode    string            `json:"mode"`
	Events  []json.RawMessage `json:"events"` // each element is a [sandbox.Event]

	events []*sandbox.Event
}

// maxTimes is the largest number of times that one event may repeat a call.
const maxTimes = 10_000_000

// readCase parses a line and returns the case and the expected answer, which is nil if the line has
// no expectation. If readCase returns an error, the case may be nil or incomplete.
func readCase(line []byte) (*policyCase, json.RawMessage, error) {
	inner, expect, err := split(line)
	if err != nil {
		return nil, nil, err
	}
	c := &policyCase{}
	if err := strict(inner, c); err != nil {
		return c, expect, err // c may already hold the name of the case, which the answer repeats
	}
	if c.Mode != "" && c.Mode != "enforce" && c.Mode != "shadow" {
		return c, expect, fmt.Errorf("unknown mode %q: enforce or shadow", c.Mode)
	}
	for i, src := range c.Events {
		e, err := readEvent(src)
		if err != nil {
			return c, expect, fmt.Errorf("event %d: %w", i, err)
		}
		c.events = append(c.events, e)
	}
	return c, expect, nil
}

// readEvent decodes and checks a single event.
func readEvent(src []byte) (*sandbox.Event, error) {
	e := &sandbox.Event{}
	if err := strict(src, e); err != nil {
		return nil, err
	}
	return e, checkEvent(e)
}

// split splits a line of the form {"case": ..., "expect": ...}. A line of any other form is a case
// without an expectation.
func split(line []byte) (inner, expect json.RawMessage, err error) {
	if !bytes.Contains(line, []byte(`"case"`)) {
		return line, nil, nil // avoid decoding the line twice
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(line, &outer); err != nil {
		return nil, nil, err
	}
	if _, ok := outer["case"]; !ok {
		return line, nil, nil
	}
	for key := range outer {
		if key != "case" && key != "expect" {
			return nil, nil, fmt.Errorf("unknown key %q beside the case", key)
		}
	}
	return outer["case"], outer["expect"], nil
}

// strict decodes a single JSON value. It rejects unknown keys and trailing data.
func strict[T any](src []byte, to *T) error {
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return cmp.Or(unknownField[T](src), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected text after the case")
	}
	return nil
}

// unknownField returns an error if a key of src has no field in T. The error names the first such
// key in alphabetical order.
func unknownField[T any](src []byte) error {
	var keys map[string]json.RawMessage
	if json.Unmarshal(src, &keys) != nil {
		return nil
	}
	var known []string
	for f := range reflect.TypeFor[T]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			known = append(known, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, key) }) {
			continue
		}
		if near := text.Nearest(key, known); near != "" {
			return fmt.Errorf("unknown field %q (did you mean %q?)", key, near)
		}
		return fmt.Errorf("unknown field %q (the fields are %s)", key, strings.Join(known, ", "))
	}
	return nil
}

// checkEvent returns an error if the event is invalid.
func checkEvent(e *sandbox.Event) error {
	switch e.Type {
	case "call":
		if e.Tool == "" {
			return errors.New("the call has no tool")
		}
		if a := e.Arguments(); a != nil && a[0] != '{' {
			return errors.New("the args are not an object")
		}
		if weak := slices.IndexFunc(e.Weak, func(name string) bool { return name != e.Tool && !slices.Contains(e.Also, name) }); weak >= 0 {
			return fmt.Errorf("%q is listed under weak, but is neither the tool nor listed under also", e.Weak[weak])
		}
		if e.Times < 0 || e.Times > maxTimes {
			return fmt.Errorf("times must be from 1 to %d", maxTimes)
		}
		if e.Times > 0 && e.Approve == sandbox.Later {
			return errors.New("a repeated call cannot wait for its answer")
		}
	case "result":
		if !slices.Contains(sandbox.Outcomes[:], e.Outcome) {
			return fmt.Errorf("unknown outcome %q", e.Outcome)
		}
	case "answer":
		if e.Approve != sandbox.Yes && e.Approve != sandbox.No {
			return errors.New("the answer must be true or false")
		}
	case "activate", "deactivate":
	case "wait":
		if e.Duration() <= 0 {
			return fmt.Errorf("invalid duration %q; write one such as 20s", e.For)
		}
	default:
		return fmt.Errorf("unknown type %q", e.Type)
	}
	return nil
}

// eachLine calls f with each line of r and its number, starting at 1. Only LF ends a line.
func eachLine(r io.Reader, f func(number int, line []byte) error) error {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading cases: %w", err)
		}
		if err != nil && len(line) == 0 {
			return nil
		}
		if err := f(number, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
}

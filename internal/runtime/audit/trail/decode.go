package trail

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Entry reads the event of the record. Its error is that of its JSON.
//
// Package json would do the same with reflection, in five times the time: a replay reads
// millions of them.
func (r *Record) Entry() (e Entry, err error) {
	d := decoder{}
	if !rawjson.Members(r.Event, func(key, v []byte, _ int) bool { return d.entry(&e, key, v) }) && d.err == nil {
		d.err = errors.New("it is no JSON object")
	}
	return e, d.err
}

// A decoder keeps the first error.
type decoder struct{ err error }

// entry reads a member of an event.
func (d *decoder) entry(e *Entry, key, v []byte) bool {
	switch name := string(key); name {
	case "time":
		d.moment(&e.Time, key, v)
	case "called":
		d.moment(&e.Called, key, v)
	case "names":
		d.texts(&e.Names, key, v)
	case "uncertain":
		d.texts(&e.Uncertain, key, v)
	case "weak":
		d.texts(&e.Weak, key, v)
	case "reads":
		d.texts(&e.Reads, key, v)
	case "active", "fields", "results", "maps", "actions":
		d.texts(e.list(name), key, v)
	case "call":
		e.Call = d.count(key, v)
	case "own":
		e.Own = int(d.count(key, v))
	case "omittedNames":
		e.Omitted = int(d.count(key, v))
	case "ms":
		e.Millis = d.number(key, v)
	case "shadow":
		e.Shadow = string(v) == "true"
	case "args":
		e.Args = json.RawMessage(v)
	case "values":
		d.each(key, v, func(v []byte) { e.Values = append(e.Values, d.value(v)) })
	case "nets":
		d.each(key, v, func(v []byte) { e.Nets = append(e.Nets, d.net(v)) })
	case "would":
		e.Would = d.would(v)
	default:
		if at := e.text(name); at != nil {
			*at = d.text(key, v)
		}
	}
	return d.err == nil
}

// text is where the text of that name belongs; nil: the reader does not know it.
func (e *Entry) text(name string) *string {
	switch name {
	case "event":
		return &e.Event
	case "session":
		return &e.Session
	case "principal":
		return &e.Principal
	case "client":
		return &e.Client
	case "id":
		return &e.ID
	case "upstream":
		return &e.Upstream
	case "tool":
		return &e.Tool
	case "arguments":
		return &e.Arguments
	case "row":
		return &e.Row
	case "decision":
		return &e.Decision.Decision
	case "kind":
		return &e.Kind
	case "approval":
		return &e.Approval
	case "channel":
		return &e.Channel
	case "actor":
		return &e.Actor
	case "reason":
		return &e.Reason
	case "policy":
		return &e.Policy
	}
	return e.other(name)
}

// other is [Entry.text] of what a decision does not have.
func (e *Entry) other(name string) *string {
	switch name {
	case "outcome":
		return &e.Outcome
	case "by":
		return &e.By
	case "net":
		return &e.Net
	case "process":
		return &e.Process
	case "driver":
		return &e.Driver
	case "task":
		return &e.Task
	case "said":
		return &e.Said
	}
	return nil
}

// list is where the list of that name belongs.
func (e *Entry) list(name string) *[]string {
	switch name {
	case "active":
		return &e.Active
	case "fields":
		return &e.Fields
	case "results":
		return &e.Results
	case "maps":
		return &e.Maps
	}
	return &e.Actions
}

func (d *decoder) wrong(key []byte) {
	if d.err == nil {
		d.err = fmt.Errorf("its member %q is of another type", key)
	}
}

func (d *decoder) text(key, v []byte) string {
	s, ok := rawjson.String(v)
	if !ok {
		d.wrong(key)
	}
	return s
}

func (d *decoder) count(key, v []byte) uint64 {
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		d.wrong(key)
	}
	return n
}

func (d *decoder) number(key, v []byte) float64 {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		d.wrong(key)
	}
	return n
}

func (d *decoder) moment(t *time.Time, key, v []byte) {
	if t.UnmarshalJSON(v) != nil {
		d.wrong(key)
	}
}

func (d *decoder) each(key, v []byte, do func(v []byte)) {
	if !rawjson.Elements(v, func(v []byte, _ int) bool { do(v); return d.err == nil }) {
		d.wrong(key)
	}
}

func (d *decoder) texts(to *[]string, key, v []byte) {
	d.each(key, v, func(v []byte) { *to = append(*to, d.text(key, v)) })
}

// members reads an object of texts; other is told of what is no text.
func (d *decoder) members(v []byte, of func(name string) *string, other func(name string, key, v []byte)) {
	if !rawjson.Members(v, func(key, v []byte, _ int) bool {
		if at := of(string(key)); at != nil {
			*at = d.text(key, v)
		} else {
			other(string(key), key, v)
		}
		return d.err == nil
	}) {
		d.wrong(v[:0])
	}
}

func (d *decoder) net(v []byte) (n audit.NetSays) {
	d.members(v, func(name string) *string {
		switch name {
		case "net":
			return &n.Net
		case "verdict":
			return &n.Verdict
		case "transition":
			return &n.Transition
		case "rule":
			return &n.Rule
		}
		return nil
	}, func(name string, _, v []byte) { n.Shadow = n.Shadow || name == "shadow" && string(v) == "true" })
	return n
}

func (d *decoder) value(v []byte) (of audit.Value) {
	d.members(v, func(name string) *string {
		switch name {
		case "field":
			return &of.Field
		case "lacks":
			return &of.Lacks
		}
		return nil
	}, func(name string, key, v []byte) {
		switch name {
		case "sha256":
			d.texts(&of.Hashes, key, v)
		case "values":
			d.each(key, v, func(v []byte) { of.Values = append(of.Values, json.RawMessage(v)) })
		case "amount":
			of.Amount = json.Number(v)
		}
	})
	return of
}

func (d *decoder) would(v []byte) *audit.Would {
	w := &audit.Would{}
	d.members(v, func(name string) *string {
		switch name {
		case "decision":
			return &w.Decision
		case "kind":
			return &w.Kind
		case "reason":
			return &w.Reason
		}
		return nil
	}, func(name string, key, v []byte) {
		if name == "nets" {
			d.each(key, v, func(v []byte) { w.Nets = append(w.Nets, d.net(v)) })
		}
	})
	return w
}

package audit

import (
	"reflect"
	"strings"
)

// A table lists the members of a JSON object in order, as given by a struct's tags; embedded
// structs are inlined. The struct's fields method returns pointers to the fields in the same order,
// so that the struct can be encoded and decoded without reflection.
type table []member

type member struct {
	name  string
	start string // JSON text before the value, such as ,"name":
	omit  bool   // whether the member has the omitempty option
}

var (
	decisionTable = tableOf(reflect.TypeFor[Decision]())
	outcomeTable  = tableOf(reflect.TypeFor[Outcome]())
	netTable      = tableOf(reflect.TypeFor[NetVerdict]())
	wouldTable    = tableOf(reflect.TypeFor[Would]())
	valueTable    = tableOf(reflect.TypeFor[Value]())
	entryTable    = tableOf(reflect.TypeFor[Entry]())
)

func tableOf(of reflect.Type) (t table) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Anonymous {
			t = append(t, tableOf(f.Type)...)
			continue
		}
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		t = append(t, member{name: name, start: `,"` + name + `":`, omit: omit != ""})
	}
	return t
}

// find returns the index of the named member, or -1. It starts searching at index next, because
// most objects have their members in table order.
func (t table) find(name []byte, next int) int {
	for i := next; i < len(t); i++ {
		if t[i].named(name) {
			return i
		}
	}
	for i := range t[:next] {
		if t[i].named(name) {
			return i
		}
	}
	return -1
}

// named reports whether m has the given name. It compares the first byte separately for speed.
func (m *member) named(name []byte) bool {
	return len(m.name) == len(name) && m.name[0] == name[0] && m.name == string(name)
}

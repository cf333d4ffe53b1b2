// Package reading extracts from a call and its result the values that a policy's nets use in
// decisions: key values, and amounts to add to sums. If these values or their hashes are recorded
// together with the call's names, a decision can be repeated without the call's arguments. If a net
// counts consecutive identical calls (see [Reader.Rows]), this also requires a fingerprint of each
// call.
package reading

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// A Reader reads the fields that a set of nets uses, each field only once. It is immutable.
type Reader struct {
	set  keyvalue.Set
	keys []toolnet.Field // fields that belong to keys; the index of a field is its number in set
	sums []toolnet.Field // fields that sums read, without duplicates
	rows bool
}

// A Value is a field's value in a call or a result.
type Value struct {
	Field  string   // field as written in the policy
	Texts  []string // values as JSON, if the field belongs to a key
	Amount string   // amount as a JSON number, if the field belongs to a sum
}

// New returns a reader for the fields that the nets use.
func New(nets []toolnet.Net) *Reader {
	r := &Reader{}
	for i := range nets {
		n := &nets[i]
		r.rows = r.rows || n.Row
		r.add(n.Key)
		for k := range n.Transitions {
			r.add(n.Transitions[k].Key)
		}
		if n.Sum != nil && !slices.ContainsFunc(r.sums, func(f toolnet.Field) bool { return f.Name() == n.Sum.Field.Name() }) {
			r.sums = append(r.sums, n.Sum.Field)
		}
	}
	return r
}

// add adds the fields of a key.
func (r *Reader) add(key []toolnet.Field) {
	for i := range key {
		if number := r.set.Number(key[i : i+1]); number == len(r.keys) {
			r.keys = append(r.keys, key[i])
		}
	}
}

// Fields returns the names of the fields in arguments and in results.
func (r *Reader) Fields() (arguments, results []string) {
	for _, f := range r.keys {
		if f.Result {
			results = append(results, f.Name())
		} else {
			arguments = append(arguments, f.Name())
		}
	}
	for i := range r.sums {
		arguments = append(arguments, r.sums[i].Name())
	}
	return arguments, results
}

// Name returns the name that r uses in [Value].Field for the field f. f must belong to a key of the
// nets passed to [New]. Fields that read the same value have the same name.
func (r *Reader) Name(f toolnet.Field) string {
	return r.keys[r.set.Number([]toolnet.Field{f})].Name()
}

// Rows reports whether any net counts consecutive identical calls.
func (r *Reader) Rows() bool { return r.rows }

// Call returns the values in a call's arguments. It omits fields without a value.
func (r *Reader) Call(c *toolnet.Call) []Value {
	if len(r.keys)+len(r.sums) == 0 {
		return nil
	}
	values := r.read(&keyvalue.CallReader{Set: &r.set, Call: c}, false)
	for i := range r.sums {
		if _, amount, ok := argument.Amount(&r.sums[i], c); ok {
			values = append(values, Value{Field: r.sums[i].Name(), Amount: amount})
		}
	}
	return values
}

// Result returns the values in a successful call's result. It returns nil if the gate cannot read
// the result.
func (r *Reader) Result(result []byte) []Value {
	if !keyvalue.Readable(result) {
		return nil
	}
	return r.read(&keyvalue.CallReader{Set: &r.set, Result: result}, true)
}

// read returns the values of the fields in the arguments or, if result is set, in the result.
func (r *Reader) read(c *keyvalue.CallReader, result bool) (values []Value) {
	for number, f := range r.keys {
		if f.Result != result {
			continue
		}
		read := c.Key(number)
		if read.Fault != jsonpath.None {
			continue
		}
		v := Value{Field: f.Name()}
		for i := range read.Values {
			v.Texts = append(v.Texts, read.Values[i].Named[0].Value)
		}
		values = append(values, v)
	}
	return values
}

// Format formats a key value for use in sentences, such as those of refusals.
func Format(key []toolnet.KeyValue) string { return keyvalue.Format(key) }

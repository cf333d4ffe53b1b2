package replay

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A recordedCall is the call being replayed, as recorded. The nets of the rebuilt policy read it
// instead of a real call; see rebuild.
type recordedCall struct {
	names  map[string]gate.Name
	values map[string]audit.Value // recorded values, keyed by field name

	maps    []gate.Map // the policy's map statements (see [gate.Map]); the rebuilt policy refers to them by index
	fields  []string   // names of the argument fields in the nets' keys (a net has a separate marking for each value of its key); the rebuilt policy refers to them by index
	sums    []string   // names of the fields that nets sum; the rebuilt policy refers to them by index
	results []string   // names of the result fields in the nets' keys; a synthetic result has them as members "f0", "f1" and so on (see endResult)
}

// rebuild returns a copy of the policy whose nets read the recorded call s instead of a real call.
func rebuild(p *gate.Policy, of *reading.Reader, s *recordedCall) (*gate.Policy, error) {
	o := p.Options()
	o.Static = false
	o.Ignored = nil // ignored arguments are not needed: they affect only the comparison of calls, and the record already shows which calls are identical
	labels := map[*gate.Labels]*gate.Labels{}
	for i, l := range o.Labels {
		labels[l] = s.labels(l)
		o.Labels[i] = labels[l]
	}
	var nets []gate.Net
	for _, info := range p.Nets() {
		n := info.Net
		n.Static = false
		if n.Labels != nil {
			n.Labels = labels[n.Labels]
		}
		n.Key = s.key(n.Key, of)
		n.Transitions = slices.Clone(n.Transitions)
		for k := range n.Transitions {
			n.Transitions[k].Key = s.key(n.Transitions[k].Key, of)
		}
		if n.Sum != nil {
			sum := *n.Sum
			sum.Field = gate.Field{Reader: amountReader{s}, Number: len(s.sums), Source: sum.Field.Name()}
			s.sums = append(s.sums, audit.Bounded(sum.Field.Source))
			n.Sum = &sum
		}
		nets = append(nets, n)
	}
	return gate.NewPolicy(nets, o)
}

// labels returns a copy of l's map statements, which give names to calls, for the rebuilt policy.
// In the copy, a map statement matches a call if the record contains the name that the statement
// gives.
func (s *recordedCall) labels(l *gate.Labels) *gate.Labels {
	rebuilt := &gate.Labels{}
	for _, m := range l.Maps {
		s.maps = append(s.maps, m)
		m.Field, m.Match, m.Reader, m.Pattern = "", nil, nameReader{s}, len(s.maps)-1
		rebuilt.Maps = append(rebuilt.Maps, m)
	}
	return rebuilt
}

// key returns a copy of a net's key: the fields of a call that select one of the net's markings.
// The copy reads the recorded values instead of a real call.
func (s *recordedCall) key(key []gate.Field, of *reading.Reader) []gate.Field {
	var rebuilt []gate.Field
	for _, f := range key {
		name := audit.Bounded(of.Name(f))
		if f.Result {
			rebuilt = append(rebuilt, gate.Field{Path: "f" + strconv.Itoa(len(s.results)), Source: f.Name(), Result: true})
			s.results = append(s.results, name)
			continue
		}
		rebuilt = append(rebuilt, gate.Field{Reader: valueReader{s}, Number: len(s.fields), Source: f.Name()})
		s.fields = append(s.fields, name)
	}
	return rebuilt
}

// A nameReader reads the recorded names of a call.
type nameReader struct{ *recordedCall }

// Read implements [gate.Reader].
func (r nameReader) Read(*gate.Call, string) gate.Reading { return r }

// Finds implements [gate.Reading].
func (r nameReader) Finds(pattern int) gate.Found {
	if _, ok := r.names[r.maps[pattern].As]; ok {
		return gate.Surely
	}
	return gate.NotFound
}

// Only implements [gate.Reading].
func (r nameReader) Only(patterns []int) bool { return r.names[r.maps[patterns[0]].As].Certain }

// Doubt implements [gate.Reading]. The result is empty, because records do not contain the reasons
// why a call's names are uncertain.
func (r nameReader) Doubt(int) gate.Doubt { return gate.Doubt{} }

// Evidence implements [gate.Reading].
func (r nameReader) Evidence(pattern int) bool { return !r.names[r.maps[pattern].As].Weak }

// A valueReader reads the recorded values of a field.
type valueReader struct{ *recordedCall }

// Value implements [gate.ValueReader].
func (v valueReader) Value(_ *gate.Call, number int) ([]byte, bool) {
	of, ok := v.values[v.fields[number]]
	if !ok || len(of.Hashes) == 0 {
		return nil, false
	}
	return jsonArray(of.Hashes), true
}

// jsonArray returns the strings as a JSON array.
func jsonArray(texts []string) []byte {
	return rawjson.Array(list.Map(texts, func(t string) []byte { return rawjson.AppendString(nil, t) })...)
}

// An amountReader reads the recorded amount of a field.
type amountReader struct{ *recordedCall }

// Value implements [gate.ValueReader].
func (a amountReader) Value(_ *gate.Call, number int) ([]byte, bool) {
	of := a.values[sumOf(a.sums[number])]
	return []byte(of.Amount), of.Amount != ""
}

// sumOf returns the key of a field's amount in recordedCall.values. The field's hashed values have
// a different key.
func sumOf(field string) string { return "sum of " + field }

// read makes the recorded values available to the rebuilt nets.
func (s *recordedCall) read(values []audit.Value) {
	s.values = make(map[string]audit.Value, len(values))
	for _, v := range values {
		if len(v.Hashes) > 0 {
			s.values[v.Field] = v
		} else {
			s.values[sumOf(v.Field)] = v
		}
	}
}

// endResult returns a synthetic result that contains the recorded values.
func (s *recordedCall) endResult(values []audit.Value) []byte {
	result := map[string]json.RawMessage{}
	for i, name := range s.results {
		for _, v := range values {
			if v.Field == name && len(v.Hashes) > 0 {
				result["f"+strconv.Itoa(i)] = jsonArray(v.Hashes)
			}
		}
	}
	b, err := json.Marshal(result)
	if err != nil {
		return nil
	}
	return b
}

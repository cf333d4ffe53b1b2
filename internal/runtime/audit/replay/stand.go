package replay

import (
	"encoding/json"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A stand is what the rebuilt nets read: the record of the call that is decided.
type stand struct {
	names  map[string]gate.Name
	values map[string]audit.Value // by the name of the field

	maps   []gate.Map // of the policy; a pattern is an index
	fields []string   // of keys of arguments; the number of a field is an index
	sums   []string   // likewise
	result []string   // of results; the path of a field has the index
}

// rebuild returns the policy with nets that read the stand.
func rebuild(p *gate.Policy, of *reading.Reader, s *stand) (*gate.Policy, error) {
	o := p.Options()
	o.Static = false
	o.Ignored = nil // the record tells equal calls
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
		n.Transitions = append([]gate.Transition(nil), n.Transitions...)
		for k := range n.Transitions {
			n.Transitions[k].Key = s.key(n.Transitions[k].Key, of)
		}
		if n.Sum != nil {
			sum := *n.Sum
			sum.Field = gate.Field{Reader: amounts{s}, Number: len(s.sums), Source: sum.Field.Name()}
			s.sums = append(s.sums, audit.Bounded(sum.Field.Source))
			n.Sum = &sum
		}
		nets = append(nets, n)
	}
	return gate.NewPolicy(nets, o)
}

// labels are maps that give the names on record.
func (s *stand) labels(l *gate.Labels) *gate.Labels {
	rebuilt := &gate.Labels{}
	for _, m := range l.Maps {
		s.maps = append(s.maps, m)
		m.Field, m.Match, m.Reader, m.Pattern = "", nil, recorded{s}, len(s.maps)-1
		rebuilt.Maps = append(rebuilt.Maps, m)
	}
	return rebuilt
}

// key is a key of the values on record.
func (s *stand) key(key []gate.Field, of *reading.Reader) []gate.Field {
	var rebuilt []gate.Field
	for _, f := range key {
		name := audit.Bounded(of.Name(f))
		if f.Result {
			rebuilt = append(rebuilt, gate.Field{Path: "f" + strconv.Itoa(len(s.result)), Source: f.Name(), Result: true})
			s.result = append(s.result, name)
			continue
		}
		rebuilt = append(rebuilt, gate.Field{Reader: values{s}, Number: len(s.fields), Source: f.Name()})
		s.fields = append(s.fields, name)
	}
	return rebuilt
}

// recorded reads the names of a call.
type recorded struct{ *stand }

// Read implements [gate.Reader].
func (r recorded) Read(*gate.Call, string) gate.Reading { return r }

// Finds implements [gate.Reading].
func (r recorded) Finds(pattern int) gate.Found {
	if _, ok := r.names[r.maps[pattern].As]; ok {
		return gate.Surely
	}
	return gate.NotFound
}

// Only implements [gate.Reading].
func (r recorded) Only(patterns []int) bool { return r.names[r.maps[patterns[0]].As].Certain }

// Doubt implements [gate.Reading]: it is not on record.
func (r recorded) Doubt(int) gate.Doubt { return gate.Doubt{} }

// Evidence implements [gate.Reading].
func (r recorded) Evidence(pattern int) bool { return !r.names[r.maps[pattern].As].Weak }

// values reads the values of a field.
type values struct{ *stand }

// Value implements [gate.ValueReader].
func (v values) Value(_ *gate.Call, number int) ([]byte, bool) {
	of, ok := v.values[v.fields[number]]
	if !ok || len(of.Hashes) == 0 {
		return nil, false
	}
	return list(of.Hashes), true
}

// list is a JSON list of texts.
func list(texts []string) []byte {
	var all [][]byte
	for _, t := range texts {
		all = append(all, rawjson.AppendString(nil, t))
	}
	return rawjson.Array(all...)
}

// amounts reads the amount of a field.
type amounts struct{ *stand }

// Value implements [gate.ValueReader].
func (a amounts) Value(_ *gate.Call, number int) ([]byte, bool) {
	of := a.values[sumOf(a.sums[number])]
	return []byte(of.Amount), of.Amount != ""
}

// sumOf is under which name the amount of a field is among the values: a key may have the
// same field.
func sumOf(field string) string { return "sum of " + field }

// read takes the values on record.
func (s *stand) read(values []audit.Value) {
	s.values = make(map[string]audit.Value, len(values))
	for _, v := range values {
		if len(v.Hashes) > 0 {
			s.values[v.Field] = v
		} else {
			s.values[sumOf(v.Field)] = v
		}
	}
}

// ended returns a result that has the values on record.
func (s *stand) ended(values []audit.Value) []byte {
	result := map[string]json.RawMessage{}
	for i, name := range s.result {
		for _, v := range values {
			if v.Field == name && len(v.Hashes) > 0 {
				result["f"+strconv.Itoa(i)] = list(v.Hashes)
			}
		}
	}
	b, err := json.Marshal(result)
	if err != nil {
		return nil
	}
	return b
}

package callclass

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A net that limits a sum refuses a call if the summed field is not a single number, is negative,
// or already exceeds the limit. The searches do not add up amounts; they consider only whether the
// net can admit a call of the class at all.

// sums returns the sums of the nets that the class affects.
func (b *vocabulary) sums(s *Class) (all []sum) {
	for _, e := range s.Effects {
		if of := b.nets[e.Net].Info.Sum; of != nil {
			all = append(all, sum{normalize(of.Field), new(big.Rat).SetInt64(int64(of.Most)), e.Net})
		}
	}
	return all
}

// sumsField reports whether any of the sums is the total of the given field.
func sumsField(sums []sum, field string) bool {
	return slices.ContainsFunc(sums, func(s sum) bool {
		return s.field.Reader == nil && s.field.Path == normalize(gate.Field{Path: field}).Path
	})
}

// sumSources returns the source code of the expressions whose values are summed.
func (w *recipe) sumSources() (sources []string) {
	for _, s := range w.sums {
		if s.field.Reader != nil {
			sources = list.Add(sources, w.b.nets[s.net].Info.Sum.Field.Source)
		}
	}
	return sources
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	var n json.Number
	return text != "" && text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil && string(n) == text
}

// withSums returns o with a number in every summed field. It copies o before it sets missing fields
// to 0. ok is false if a sum does not accept the content of its field.
func (w *recipe) withSums(o object) (out object, ok bool) {
	for _, s := range w.sums {
		text, found := s.read(w, o)
		if !found && s.field.Reader == nil {
			if o = clone(o); !o.place(s.field.Path, 0) {
				return nil, false
			}
			text = "0"
		}
		if !isNumber(text) {
			return nil, false
		}
		amount, ok := new(big.Rat).SetString(text)
		if !ok || amount.Sign() < 0 || amount.Sign() > 0 && !w.maySpend || amount.Cmp(s.most) > 0 {
			return nil, false
		}
	}
	return o, true
}

// read returns the amount that the arguments o add to sum s, as JSON.
func (s *sum) read(w *recipe, o object) (text string, found bool) {
	if s.field.Reader != nil {
		value, ok := s.field.Reader.Value(&gate.Call{Tool: w.form.tools[0].Text, Args: []byte(o.text())}, s.field.Number)
		return string(value), ok
	}
	var at any = map[string]any(o)
	for _, key := range keysOf(s.field.Path) {
		inner, ok := at.(map[string]any)
		if !ok {
			return "", at != nil
		}
		at = inner[key]
	}
	if at == nil {
		return "", false
	}
	b, err := json.Marshal(at)
	return string(b), err == nil
}

// addRefusals marks the class as refused by each net whose sum accepts none of its calls.
func (b *Enumerator) addRefusals(s *Class, w *recipe) {
	for _, of := range w.sums {
		if !w.sumRefuses(of) {
			continue
		}
		at := slices.IndexFunc(s.Effects, func(e Effect) bool { return e.Net == of.net })
		s.Effects = slices.Clone(s.Effects)
		n := b.nets[of.net]
		s.Effects[at].Meaning = n.intern(append(slices.Clone(n.Meanings.List[s.Effects[at].Meaning]), Ask{Refused: true}))
		s.BlockedBy = list.Add(slices.Clone(s.BlockedBy), of.net)
	}
}

// sumRefuses reports whether the sum is certain to refuse all calls of the class.
func (w *recipe) sumRefuses(of sum) bool {
	if of.field.Reader != nil {
		return false
	}
	for _, v := range w.form.fields {
		if sumsField([]sum{of}, v.field) && v.field != "" && !v.weak {
			return true // the field contains a string, but a sum accepts only numbers
		}
	}
	c := w.b.conditionsOf(w.form.tools)
	if c == nil {
		return false
	}
	left := interval{low: new(big.Rat), high: of.most}
	for _, m := range c.maps {
		_, hit := w.form.value("").hit(m)
		parts, ok := comparisons(m.Source, of.field.Path)
		switch {
		case hit:
			for _, c := range parts {
				left.cut(c.op, c.than)
			}
		case ok && len(parts) == 1:
			left.cut(opposite[parts[0].op], parts[0].than)
		}
	}
	return left.empty()
}

// A comparison compares a field of a call's arguments with a number. op is the operator, and than
// is its right operand.
type comparison struct {
	op   string
	than *big.Rat
}

var (
	compared = regexp.MustCompile(`^\s*args\.([A-Za-z_][\w.]*)\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?)\s*$`)
	opposite = map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
)

// comparisons returns the conjuncts of source that compare the field with a number. The second
// result reports whether source has no other conjuncts. If source might not be a conjunction,
// comparisons returns nil and false.
func comparisons(source, field string) (all []comparison, whole bool) {
	source = quote.ReplaceAllString(expression(source), "''")
	if strings.ContainsAny(source, "|?(") {
		return nil, false
	}
	whole = true
	for _, part := range strings.Split(source, "&&") {
		m := compared.FindStringSubmatch(part)
		if m == nil || m[1] != strings.TrimPrefix(field, "$.") {
			whole = false
			continue
		}
		than, _ := new(big.Rat).SetString(m[3])
		all = append(all, comparison{m[2], than})
	}
	return all, whole
}

// An interval contains the numbers from low to high.
type interval struct {
	low, high         *big.Rat
	aboveLow, belowUp bool // whether low and high themselves are excluded
}

// cut restricts the interval to the numbers that satisfy the comparison.
func (b *interval) cut(op string, than *big.Rat) {
	if op == ">" || op == ">=" || op == "==" {
		if c := than.Cmp(b.low); c > 0 || c == 0 && op == ">" {
			b.low, b.aboveLow = than, op == ">"
		}
	}
	if op == "<" || op == "<=" || op == "==" {
		if c := than.Cmp(b.high); c < 0 || c == 0 && op == "<" {
			b.high, b.belowUp = than, op == "<"
		}
	}
}

func (b *interval) empty() bool {
	c := b.low.Cmp(b.high)
	return c > 0 || c == 0 && (b.aboveLow || b.belowUp)
}

package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

// newGranting returns a broker that gives grants of at most half an hour.
func newGranting() (*Broker, *clock) {
	c := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return New(Options{Expire: time.Minute, Cooldown: 30 * time.Second, Channels: []string{Elicit, CLI, Web}, Grants: 30 * time.Minute, Now: c.now}), c
}

// A wanted is a call and its rules' requirements.
type wanted struct {
	session, principal, upstream, tool, definition, policy, steps, beside string
	arguments, meta                                                       string
	via                                                                   string
	persons                                                               int
}

func edit(arguments string) wanted {
	return wanted{
		session: "s", principal: "ann", upstream: "files", tool: "edit", definition: "d", policy: "p", steps: "x", arguments: arguments, meta: `{"m":1}`, persons: 1,
	}
}

func (w wanted) open(t *testing.T, b *Broker) *Request {
	t.Helper()
	sum := sha256.Sum256([]byte(w.arguments))
	digest := hex.EncodeToString(sum[:])
	q, err := b.Open(
		Key{w.session, w.upstream + "." + w.tool, w.definition, digest, w.beside, w.policy, w.steps},
		Call{Upstream: w.upstream, Tool: w.tool, Arguments: []byte(w.arguments), Meta: []byte(w.meta), Size: len(w.arguments), SHA256: digest, Session: w.session, Principal: w.principal, Client: "agent"},
		&gate.Ask{Steps: []gate.Step{{Net: "n", Transition: "t", Via: w.via, Approvals: w.persons}}})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// give approves w on behalf of a person, with a grant.
func (w wanted) give(t *testing.T, b *Broker, d time.Duration, like ...string) *Grant {
	t.Helper()
	q := w.open(t, b)
	g, err := b.Grant(q.ID, Terms{For: d, Like: like}, CLI, "bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(q.ID, true, CLI, "bob", ""); err != nil {
		t.Fatal(err)
	}
	if err := b.Grants().Add(g); err != nil {
		t.Fatal(err)
	}
	return g
}

// passes reports whether a grant approves w, and then ends w.
func (w wanted) passes(t *testing.T, b *Broker) bool {
	t.Helper()
	var told []Record
	b.options.Granted = func(r Record) {
		b.Look(r.Request) // reading the request is possible
		told = append(told, r)
	}
	q := w.open(t, b)
	defer b.Release(q, false)
	a := b.Status(q)
	if a.State != Approved {
		if a.Grant != "" || len(told) > 0 || !pending(q) {
			t.Errorf("%s is %s by %q, told %v", q.ID, a.State, a.Grant, told)
		}
		return false
	}
	if a.Grant == "" || a.Channel != CLI || a.Actor != "bob (grant "+a.Grant+")" || pending(q) || b.Look(q).Call.Meta != nil {
		t.Errorf("%s is approved: %+v", q.ID, a)
	}
	again := w.open(t, b)
	defer b.Release(again, false)
	if again != q || len(told) != 1 || told[0].Request != q || told[0].Answer != a || !redeem(b, q) {
		t.Errorf("it cannot be used, or is told otherwise: %v", told)
	}
	return true
}

// TestGrant checks that a grant approves only calls that are similar to the one that it was given
// with.
func TestGrant(t *testing.T) {
	const given = `{"path":"/tmp/a","edits":[{"old":"x","new":"y"}],"dry":false,"deep":{"n":1}}`
	for name, tt := range map[string]struct {
		change func(w *wanted)
		passes bool
	}{
		"the same":      {func(*wanted) {}, true},
		"another value": {func(w *wanted) { w.arguments = strings.Replace(given, `"y"`, `"z"`, 1) }, true},
		"more elements": {func(w *wanted) { w.arguments = strings.Replace(given, `[{`, `[{"new":"2","old":"1"},{`, 1) }, true},
		"another spelling": {func(w *wanted) {
			w.arguments = ` { "dry" : true,"path":"\u002ftmp/a", "deep":{"n":1},"edits":[{"old":"","new":""}]}`
		}, true},
		"another _meta":            {func(w *wanted) { w.meta = `{"m":2}` }, true},
		"another pinned value":     {func(w *wanted) { w.arguments = strings.Replace(given, `/tmp/a`, `/etc`, 1) }, false},
		"another pinned path":      {func(w *wanted) { w.arguments = strings.Replace(given, `{"n":1}`, `{"n":1.0}`, 1) }, false},
		"a pinned one is missing":  {func(w *wanted) { w.arguments = strings.Replace(given, `"path":"/tmp/a",`, ``, 1) }, false},
		"a member is new":          {func(w *wanted) { w.arguments = strings.Replace(given, `"dry"`, `"force":true,"dry"`, 1) }, false},
		"one of other case is new": {func(w *wanted) { w.arguments = strings.Replace(given, `"dry"`, `"Path":"/etc","dry"`, 1) }, false},
		"one is new deep inside":   {func(w *wanted) { w.arguments = strings.Replace(given, `"old":"x"`, `"old":"x","all":true`, 1) }, false},
		"a member is missing":      {func(w *wanted) { w.arguments = strings.Replace(given, `"dry":false,`, ``, 1) }, false},
		"another kind":             {func(w *wanted) { w.arguments = strings.Replace(given, `"dry":false`, `"dry":null`, 1) }, false},
		"a surrogate alone":        {func(w *wanted) { w.arguments = strings.Replace(given, `"y"`, `"\ud800"`, 1) }, false},
		"something beside":         {func(w *wanted) { w.beside = "b" }, false},
		"another session":          {func(w *wanted) { w.session = "s2" }, false},
		"another principal":        {func(w *wanted) { w.principal = "eve" }, false},
		"another tool":             {func(w *wanted) { w.tool = "write" }, false},
		"another upstream":         {func(w *wanted) { w.upstream = "f" }, false},
		"another definition":       {func(w *wanted) { w.definition = "d2" }, false},
		"another policy":           {func(w *wanted) { w.policy = "p2" }, false},
		"other steps":              {func(w *wanted) { w.steps = "y" }, false},
		"two persons":              {func(w *wanted) { w.persons = 2 }, false},
		"via another channel":      {func(w *wanted) { w.via = Web }, false},
		"via its channel":          {func(w *wanted) { w.via = CLI }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newGranting()
			g := edit(given).give(t, b, time.Minute, "path", "$.deep.n")
			w := edit(given)
			w.arguments += " " // a different call
			if tt.change(&w); w.arguments == given {
				t.Fatal("nothing has changed")
			}
			if got := w.passes(t, b); got != tt.passes {
				t.Errorf("passes %t", got)
			}
			if all := b.Grants().List(); len(all) != 1 || all[0].ID != g.ID || (all[0].Uses == 1) != tt.passes {
				t.Errorf("%+v", all)
			}
		})
	}
}

// TestGrantEnds checks that a person is asked again after a grant has expired or was revoked, and
// that a denial stands despite any grant.
func TestGrantEnds(t *testing.T) {
	b, clock := newGranting()
	call := func(n int) wanted { return edit(fmt.Sprintf(`{"n":%d}`, n)) }
	pinned := call(0).give(t, b, time.Minute)
	if call(1).passes(t, b) || pinned.Like()[0] != "arguments" {
		t.Error("without a name all arguments are pinned")
	}
	spaced := call(0)
	spaced.arguments = `{ "n":0}`
	if !spaced.passes(t, b) {
		t.Error("the same arguments do not pass")
	}
	clock.at = clock.at.Add(59 * time.Second)
	spaced.arguments = `{"n": 0}`
	if !spaced.passes(t, b) {
		t.Error("it ends before its time")
	}
	clock.at = clock.at.Add(time.Second)
	spaced.arguments = `{"n" :0}`
	if spaced.passes(t, b) || len(b.Grants().List()) != 0 {
		t.Error("it outlives its time")
	}
	if _, err := b.Grants().Revoke(pinned.ID); err == nil || err.Error() != "no grant "+pinned.ID+" is valid" {
		t.Errorf("got %v", err)
	}
	open := edit(`{"n":1,"to":"a"}`)
	g := open.give(t, b, time.Minute, "to")
	denied := edit(`{"n":2,"to":"a"}`)
	if !denied.passes(t, b) {
		t.Fatal("it does not pass")
	}
	if _, err := b.Grants().Revoke(g.ID); err != nil {
		t.Error(err)
	}
	q := denied.open(t, b)
	if err := b.Answer(q.ID, false, CLI, "bob", ""); err != nil { // asked again, and denied
		t.Error(err)
	}
	edit(`{"n":3,"to":"a"}`).give(t, b, time.Minute, "to")
	if b.Status(denied.open(t, b)).State != Denied {
		t.Error("the denial does not stand")
	}
	if !edit(`{"n":4,"to":"a"}`).passes(t, b) {
		t.Error("it does not pass")
	}
}

// TestGrantOfSession checks that a grant for a session ends with it, and after a day at the latest;
// that it can be revoked; and that grants of other sessions remain.
func TestGrantOfSession(t *testing.T) {
	b, clock := newGranting()
	b.options.Grants = time.Hour
	call := func(session string, n int) wanted {
		w := edit(fmt.Sprintf(`{"to":"a","n":%d}`, n))
		w.session = session
		return w
	}
	give := func(session string, n int) *Grant {
		t.Helper()
		q := call(session, n).open(t, b)
		g, err := b.Grant(q.ID, Terms{Session: true, Like: []string{"to"}}, CLI, "bob")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Answer(q.ID, true, CLI, "bob", ""), b.Grants().Add(g)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := give("s", 0)
	if said := g.String(); !strings.HasSuffix(said, "until the end of its session, or 2026-01-03T03:04:05Z") {
		t.Error(said)
	}
	give("other", 0)
	clock.at = clock.at.Add(23 * time.Hour)
	if !call("s", 1).passes(t, b) {
		t.Error("it ends before its session")
	}
	if err := b.Grants().EndSession("s"); err != nil {
		t.Error(err)
	}
	if all := b.Grants().List(); len(all) != 1 || all[0].Key.Session != "other" {
		t.Errorf("%+v", all)
	}
	if call("s", 2).passes(t, b) || !call("other", 1).passes(t, b) {
		t.Error("another session has ended")
	}
	clock.at = clock.at.Add(time.Hour)
	if call("other", 2).passes(t, b) || len(b.Grants().List()) != 0 {
		t.Error("it outlives a day")
	}
	revoked := give("other", 3)
	if _, err := b.Grants().Revoke(revoked.ID); err != nil || call("other", 4).passes(t, b) {
		t.Error("it is not revoked", err)
	}
}

// TestGrantTerms checks which grants are refused.
func TestGrantTerms(t *testing.T) {
	const args = `{"path":"a","deep":{"n":[1,2]},"Key":1,"key":2}`
	for want, tt := range map[string]struct {
		change  func(b *Broker, w *wanted)
		terms   Terms
		channel string
	}{
		"this proxy does not allow grants: approval.grants is false": {func(b *Broker, _ *wanted) { b.options.Grants = -1 }, Terms{For: time.Minute}, CLI},
		"a grant lasts at most 30m":                                  {nil, Terms{For: 31 * time.Minute}, CLI},
		"a grant lasts at most 1h":                                   {func(b *Broker, _ *wanted) { b.options.Grants = 3 * time.Hour }, Terms{For: 2 * time.Hour}, CLI},
		"a grant lasts at most 30m (approval.grants)":                {nil, Terms{Session: true}, CLI},
		"a grant lasts for a duration or for the session, not both":  {nil, Terms{For: time.Minute, Session: true}, CLI},
		"needs 2 people, and such calls cannot have grants":          {func(_ *Broker, w *wanted) { w.persons = 2 }, Terms{For: time.Minute}, CLI},
		"cannot be answered via this channel":                        {nil, Terms{For: time.Minute}, Elicit},
		"can be answered only via web":                               {func(_ *Broker, w *wanted) { w.via = Web }, Terms{For: time.Minute}, CLI},
		`the call has no single argument "paht"`:                     {nil, Terms{For: time.Minute, Like: []string{"paht"}}, CLI},
		`the call has no single argument "$.deep.n[*]"`:              {nil, Terms{For: time.Minute, Like: []string{"$.deep.n[*]"}}, CLI},
		`the call has no single argument "key"`:                      {nil, Terms{For: time.Minute, Like: []string{"key"}}, CLI},
		`"$.": a key is missing after the dot`:                       {nil, Terms{For: time.Minute, Like: []string{"$."}}, CLI},
		"an argument of the grant has no name":                       {nil, Terms{For: time.Minute, Like: []string{"path", ""}}, CLI},
		"a grant can name at most 20 arguments":                      {nil, Terms{For: time.Minute, Like: make([]string, 21)}, CLI},
		"calls with arguments that are too long or ambiguous cannot have grants": {func(_ *Broker, w *wanted) {
			w.arguments = `{"a":"` + strings.Repeat("x", maxComparable) + `"}`
		}, Terms{For: time.Minute}, CLI},
		"too long or ambiguous": {func(_ *Broker, w *wanted) { w.arguments = `{"a":"\udead"}` }, Terms{For: time.Minute}, CLI},
	} {
		t.Run(want, func(t *testing.T) {
			b, _ := newGranting()
			w := edit(args)
			if tt.change != nil {
				tt.change(b, &w)
			}
			q := w.open(t, b)
			if g, err := b.Grant(q.ID, tt.terms, tt.channel, "bob"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", g, err)
			}
			if !pending(q) {
				t.Error("it is answered")
			}
		})
	}
	b, _ := newGranting()
	for i := range maxGrants {
		g := edit(fmt.Sprintf(`{"n":%d}`, i)).give(t, b, time.Minute)
		if err := b.Claim(g.Approval); err != nil {
			t.Fatal(err)
		}
		b.Consume(g.Approval)
	}
	q := edit(`{"n":-1}`).open(t, b)
	g, err := b.Grant(q.ID, Terms{For: time.Minute}, CLI, "bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Grants().Add(g); err == nil || !strings.Contains(err.Error(), "there are too many grants already; revoke some (petrigate approvals grants)") {
		t.Errorf("got %v", err)
	}
	other := edit(`{}`)
	other.session = "other"
	other.give(t, b, time.Minute)
}

// TestGrantsOfRandomCalls checks that a call with changed arguments is covered exactly if it has
// the same members of the same kinds and the pinned values are equal.
func TestGrantsOfRandomCalls(t *testing.T) {
	from, count := soak.Range(t, 2000)
	var passed, asked int
	for n := range count {
		seed := from + uint64(n)
		r := rand.New(rand.NewPCG(1, seed))
		b, _ := newGranting()
		first := randomObject(r, 3)
		names := members(first)
		var like []string
		for _, name := range names {
			if r.IntN(2) == 0 {
				like = append(like, name)
			}
		}
		edit(spell(r, first)).give(t, b, time.Minute, like...)
		second := clone(first)
		for range r.IntN(3) {
			second = changed(r, second).(map[string]any)
		}
		want := reflect.DeepEqual(first, second)
		if len(like) > 0 {
			want = reflect.DeepEqual(shapeOf(first), shapeOf(second))
			for _, name := range like {
				want = want && reflect.DeepEqual(first[name], second[name])
			}
		}
		w := edit(spell(r, second) + " ") // not exactly the approved call
		if got := w.passes(t, b); got != want {
			t.Fatalf("PETRIGATE_SEED=%d: %v, pinned %q, then %v: passes %t", seed, first, like, second, got)
		}
		if want {
			passed++
		} else {
			asked++
		}
	}
	if min(passed, asked) < count/50 {
		t.Errorf("%d have passed, and %d were asked about", passed, asked)
	}
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	o := map[string]any{}
	for range 1 + r.IntN(4) {
		o[[]string{"a", "b", "c", "path", "dé\u202e", `q"`}[r.IntN(6)]] = randomValue(r, depth-1)
	}
	return o
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0 && depth > 0:
		return randomObject(r, depth)
	case n == 1 && depth > 0:
		var list []any
		for range r.IntN(3) {
			list = append(list, randomValue(r, depth-1))
		}
		return append([]any{}, list...)
	case n < 4:
		return json.Number([]string{"1", "1.0", "1e0", "-0"}[r.IntN(4)])
	case n < 6:
		return []string{"x", "/tmp", "\u202e", ""}[r.IntN(4)]
	case n < 7:
		return r.IntN(2) == 0
	}
	return nil
}

func members(o map[string]any) []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func clone(o map[string]any) map[string]any {
	text, _ := json.Marshal(o)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var c map[string]any
	_ = d.Decode(&c)
	return c
}

// changed returns a value with one thing changed, anywhere in it.
func changed(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := members(v)
		switch r.IntN(5) {
		case 0:
			v["new"] = randomValue(r, 1)
		case 1:
			if len(names) > 0 {
				delete(v, names[r.IntN(len(names))])
			}
		default:
			if len(names) > 0 {
				name := names[r.IntN(len(names))]
				v[name] = changed(r, v[name])
			}
		}
		return v
	case []any:
		if len(v) > 0 && r.IntN(2) == 0 {
			v[0] = changed(r, v[0])
			return v
		}
		return append(v, randomValue(r, 1))
	}
	return randomValue(r, 1)
}

// shapeOf is the test's own computation of a value's shape.
func shapeOf(v any) map[string]bool {
	shape := map[string]bool{}
	var add func(at []string, v any)
	add = func(at []string, v any) {
		shape[fmt.Sprintf("%q %T", at, v)] = true
		switch v := v.(type) {
		case map[string]any:
			for name, one := range v {
				add(append(slices.Clone(at), "member "+name), one)
			}
		case []any:
			for _, one := range v {
				add(append(slices.Clone(at), "element"), one)
			}
		}
	}
	add(nil, v)
	return shape
}

// spell writes an object with its members in any order.
func spell(r *rand.Rand, v any) string {
	switch v := v.(type) {
	case map[string]any:
		names := members(v)
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var parts []string
		for _, name := range names {
			parts = append(parts, spell(r, name)+": "+spell(r, v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, spell(r, one))
		}
		return "[" + strings.Join(parts, " ,") + "]"
	case string:
		if r.IntN(2) == 0 {
			var b strings.Builder
			for _, c := range v {
				fmt.Fprintf(&b, `\u%04x`, c)
			}
			return `"` + b.String() + `"`
		}
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// TestGrantOfMasked checks that no grant is given for or covers a call with masked values, because
// no grant compares values that people do not see.
func TestGrantOfMasked(t *testing.T) {
	b, _ := newGranting()
	secret := []byte(`"old"`)
	b.options.Mask = func(value []byte) ([]byte, int) {
		return bytes.ReplaceAll(value, secret, []byte(`"***"`)), bytes.Count(value, secret)
	}
	w := edit(`{"path":"a","password":"plain"}`)
	g := w.give(t, b, time.Minute, "path")
	w.arguments = `{"path":"a","password":"old"}`
	q := w.open(t, b)
	if s := b.Status(q); s.State != Pending || q.question.Call.Masked != 1 {
		t.Errorf("%+v, %d values are masked", s, q.question.Call.Masked)
	}
	if _, err := b.Grant(q.ID, Terms{For: time.Minute}, CLI, "bob"); err == nil || !strings.Contains(err.Error(), "approval.mask") {
		t.Errorf("got %v", err)
	}
	w.arguments = `{"path":"a","password":"other"}`
	if s := b.Status(w.open(t, b)); s.State != Approved || s.Grant != g.ID {
		t.Errorf("without a masked value: %+v", s)
	}
}

package netstate_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/internal/trie"
	"github.com/petrigate/petrigate/gate/toolnet"
)

func flight(call uint64) netstate.Flight { return netstate.Flight{Owner: 1, Call: call} }

// spent returns a spent amount.
func spent(text string) *netstate.Spent {
	amount, _ := new(big.Rat).SetString(text)
	return &netstate.Spent{Amount: amount}
}

// TestWaits checks that a net waits for a call that is in flight, is watched, or spoils its
// evidence.
func TestWaits(t *testing.T) {
	spoiled := &netstate.NetData{}
	netstate.SetSpoilers(spoiled, []netstate.Flight{flight(3)})
	for name, d := range map[string]*netstate.NetData{
		"flight": {Flights: []netstate.Flight{flight(3)}}, "watch": {Watches: []netstate.Flight{flight(3)}}, "spoiler": spoiled,
	} {
		its, other := flight(3), netstate.Flight{Owner: 2, Call: 3}
		if !d.Waits(&its) || d.Waits(&other) {
			t.Errorf("%s: it waits %v, and %v for that of another session", name, d.Waits(&its), d.Waits(&other))
		}
	}
}

// TestExtrasAreNilIfEmpty checks that the rare parts of a state are stored in a separate object,
// which is nil if they are empty.
func TestExtrasAreNilIfEmpty(t *testing.T) {
	d := &netstate.NetData{}
	if d.Spoilers() != nil || d.Lapsed() != nil || d.Row() != "" {
		t.Error("an empty state has something")
	}
	netstate.SetSpoilers(d, []netstate.Flight{flight(1)})
	netstate.SetLapsed(d, []netstate.Flight{flight(2)})
	netstate.SetRow(d, "row")
	if len(d.Spoilers()) != 1 || len(d.Lapsed()) != 1 || d.Row() != "row" {
		t.Errorf("%+v", d.Extras)
	}
	netstate.SetSpoilers(d, nil)
	netstate.SetLapsed(d, nil)
	if netstate.SetRow(d, ""); d.Extras != nil {
		t.Errorf("%+v", d.Extras)
	}
}

// TestSwitched checks that watches and clocks end when a net is switched off, in the actual and the
// shadow state and for all values.
func TestSwitched(t *testing.T) {
	now := time.Unix(100, 0)
	data := func() *netstate.NetData {
		return &netstate.NetData{
			Active: true, Marking: []int{1}, Watches: []netstate.Flight{flight(1)}, Clock: &netstate.Clock{Time: now},
			Spent: &netstate.Spent{Amount: big.NewRat(1, 2), Time: now},
		}
	}
	d := data()
	d.Shadow = &netstate.ShadowData{Enforced: data(), Refused: 2}
	d.Values = &netstate.Values{}
	netstate.Put(d.Values, "v", data())
	off := netstate.Switched(d, false)
	for name, o := range map[string]*netstate.NetData{"net": off, "enforced": off.Shadow.Enforced, "value": off.Values.Get("v")} {
		if o.Active || o.Watches != nil || o.Clock != nil || !o.Spent.Time.IsZero() || o.Spent.Amount.RatString() != "1/2" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if on := netstate.Switched(off, true); !on.Active || !on.Shadow.Enforced.Active || !on.Values.Get("v").Active || on.Shadow.Refused != 2 {
		t.Errorf("%+v", on)
	}
	if !d.Active || !d.Shadow.Enforced.Active || len(d.Watches) != 1 {
		t.Error("the state that was switched has changed")
	}
}

// TestValues checks that a value whose state equals the default state is not stored.
func TestValues(t *testing.T) {
	var none *netstate.Values
	if none.Len() != 0 || none.Get("a") != nil || netstate.GetHashed(none, trie.Hash("a"), "a") != nil {
		t.Error("no values have a value")
	}
	for range none.All() {
		t.Error("no values yield one")
	}
	base := &netstate.NetData{Active: true, Marking: []int{2}}
	one := netstate.With(base, "a", &netstate.NetData{Active: true, Marking: []int{1}}, false)
	two := netstate.With(one, "b", &netstate.NetData{Active: true, Marking: []int{0}}, false)
	if base.Values.Len() != 0 || one.Values.Len() != 1 || two.Values.Len() != 2 {
		t.Errorf("%d, %d and %d values", base.Values.Len(), one.Values.Len(), two.Values.Len())
	}
	if same := netstate.With(two, "c", &netstate.NetData{Active: true, Marking: []int{1}, Stuck: true}, true); same != two {
		t.Error("a state that is not shared is copied")
	}
	if d := two.Values.Get("a"); !slices.Equal(d.Marking, []int{1}) {
		t.Errorf("%v", d.Marking)
	}
	three := netstate.With(two, "a", &netstate.NetData{Active: true, Marking: []int{2}}, false)
	if three.Values.Get("a") != nil || three.Values.Len() != 2 {
		t.Error("a value is kept that is as the net at large")
	}
	for key := range three.Values.All() {
		if key != "b" && key != "c" {
			t.Errorf("it has %s", key)
		}
	}
}

func TestMapValues(t *testing.T) {
	base := &netstate.NetData{Marking: []int{1}}
	values := &netstate.Values{}
	netstate.Put(values, "a", &netstate.NetData{Marking: []int{2}})
	netstate.Put(values, "b", &netstate.NetData{Marking: []int{3}})
	mapped := netstate.MapValues(values, base, func(d *netstate.NetData) *netstate.NetData {
		return &netstate.NetData{Marking: []int{d.Marking[0] - 1}}
	})
	if d := mapped.Get("b"); mapped.Len() != 1 || d == nil || d.Marking[0] != 2 { // the state for "a" equals the default state
		t.Errorf("%d states, %v for b", mapped.Len(), d)
	}
	if netstate.MapValues(nil, base, nil) != nil {
		t.Error("no values have states")
	}
}

// TestEqualStates checks that equal states share memory, while clocks and spent amounts stay
// separate.
func TestEqualStates(t *testing.T) {
	base := &netstate.NetData{Active: true, Marking: []int{9}, Values: &netstate.Values{}}
	huge := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	put := func(key string, tokens int, clock *netstate.Clock, sum *netstate.Spent) {
		netstate.Put(base.Values, key, &netstate.NetData{Active: true, Marking: []int{tokens}, Clock: clock, Spent: sum})
	}
	put("a", 1, nil, nil)
	put("b", 1, nil, nil)
	put("c", 1, &netstate.Clock{Time: time.Unix(5, 0)}, nil)
	put("d", 1, nil, spent("1/3"))
	put("e", 1, nil, &netstate.Spent{Amount: new(big.Rat).SetInt(huge)})
	netstate.Put(base.Values, "f", &netstate.NetData{Active: true, Marking: []int{1}, Flights: []netstate.Flight{flight(1)}})
	if base.Values.Get("a") != base.Values.Get("b") {
		t.Error("equal states are kept twice")
	}
	if c := base.Values.Get("c"); !c.Clock.Time.Equal(time.Unix(5, 0)) || c.Spent != nil {
		t.Errorf("%+v", c)
	}
	if d := base.Values.Get("d"); d.Spent.Amount.RatString() != "1/3" || d.Clock != nil {
		t.Errorf("%+v", d)
	}
	if e := base.Values.Get("e"); e.Spent.Amount.Num().Cmp(huge) != 0 {
		t.Errorf("%v", e.Spent)
	}
	seen := 0
	for range netstate.Distinct(base) {
		seen++
	}
	if seen != 6 {
		t.Errorf("%d states differ, want 6: the net at large, one for two values, and four", seen)
	}
	for range netstate.Distinct(base) {
		break
	}
	for range netstate.Distinct(&netstate.NetData{}) {
		seen++
	}
	if seen != 7 {
		t.Error("a net without values has not one state")
	}
}

// TestManyStates checks that states are correct whether or not equal ones share memory.
func TestManyStates(t *testing.T) {
	values := &netstate.Values{}
	for i := range 1500 {
		netstate.Put(values, fmt.Sprint(i), &netstate.NetData{Stuck: i%2 == 0, Marking: []int{i}})
	}
	for i := range 1500 {
		if d := values.Get(fmt.Sprint(i)); d.Marking[0] != i || d.Stuck != (i%2 == 0) {
			t.Fatalf("%d: %+v", i, d)
		}
	}
}

// TestForNewValue checks that the state for a single value lacks the watches and spoilers that
// apply to all values.
func TestForNewValue(t *testing.T) {
	base := &netstate.NetData{Marking: []int{1}, Watches: []netstate.Flight{flight(1)}, Values: &netstate.Values{}}
	base.Shadow = &netstate.ShadowData{Enforced: &netstate.NetData{Watches: []netstate.Flight{flight(1)}}, Asked: 3}
	netstate.SetSpoilers(base, []netstate.Flight{flight(2)})
	one := netstate.ForNewValue(base)
	if one.Watches != nil || one.Values != nil || one.Extras != nil || one.Shadow.Enforced.Watches != nil || one.Shadow.Asked != 0 {
		t.Errorf("%+v", one)
	}
	if !slices.Equal(one.Marking, base.Marking) || len(base.Spoilers()) != 1 {
		t.Errorf("%+v", base)
	}
}

// TestUnwatched checks that a call's watches end, and that it no longer spoils once it has ended.
func TestUnwatched(t *testing.T) {
	call := flight(1)
	other := &netstate.NetData{Watches: []netstate.Flight{flight(2)}}
	if netstate.Unwatched(other, &call, true) != other {
		t.Error("a net is changed that does not wait for the call")
	}
	watched := func() *netstate.NetData {
		d := &netstate.NetData{Watches: []netstate.Flight{flight(1), flight(2)}}
		netstate.SetSpoilers(d, []netstate.Flight{flight(1)})
		return d
	}
	d := watched()
	d.Shadow = &netstate.ShadowData{Enforced: watched()}
	for _, ended := range []bool{true, false} {
		after := netstate.Unwatched(d, &call, ended)
		for _, o := range []*netstate.NetData{after, after.Shadow.Enforced} {
			if len(o.Watches) != 1 || (len(o.Spoilers()) == 0) != ended {
				t.Errorf("%v: %+v %+v", ended, o, o.Extras)
			}
		}
	}
}

// TestPrune checks that a lapsed watch is dropped together with its watch.
func TestPrune(t *testing.T) {
	lapsed := func() *netstate.NetData {
		d := &netstate.NetData{}
		netstate.SetLapsed(d, []netstate.Flight{flight(1), flight(2)})
		return d
	}
	base := &netstate.NetData{Watches: []netstate.Flight{flight(2)}, Shadow: &netstate.ShadowData{Enforced: &netstate.NetData{}}}
	d := lapsed()
	d.Shadow = &netstate.ShadowData{Enforced: lapsed()}
	netstate.Prune(d, base)
	if len(d.Lapsed()) != 1 || d.Shadow.Enforced.Lapsed() != nil {
		t.Errorf("%+v, enforced %+v", d.Extras, d.Shadow.Enforced.Extras)
	}
}

// TestEqualsDefault checks that any difference makes a state differ from the default state.
func TestEqualsDefault(t *testing.T) {
	at := func(times ...time.Time) *netstate.Clock { return &netstate.Clock{Since: times} }
	now := time.Unix(50, 0)
	for name, d := range map[string]*netstate.NetData{
		"stuck": {Stuck: true}, "spent": {Spent: spent("1")}, "flight": {Flights: []netstate.Flight{flight(1)}},
		"meta": {Meta: toolnet.Meta{"a": 1}}, "marking": {Marking: []int{1}}, "clock": {Clock: at(now)},
	} {
		if netstate.EqualsDefault(d, &netstate.NetData{}) {
			t.Errorf("%s: it is as the net at large", name)
		}
	}
	shadow := func(tokens int) *netstate.NetData {
		return &netstate.NetData{Shadow: &netstate.ShadowData{Enforced: &netstate.NetData{Marking: []int{tokens}}}}
	}
	if netstate.EqualsDefault(shadow(1), shadow(2)) || !netstate.EqualsDefault(shadow(1), shadow(1)) {
		t.Error("the world in which nets in shadow block is not compared")
	}
	if !netstate.EqualsDefault(&netstate.NetData{Clock: at(time.Time{})}, &netstate.NetData{}) || !netstate.EqualsDefault(&netstate.NetData{}, &netstate.NetData{Clock: at(time.Time{})}) {
		t.Error("a clock that does not tick is another than none")
	}
	if shadow(1).Deciding().Marking == nil || (&netstate.NetData{}).Deciding() == nil {
		t.Error("a net does not decide")
	}
}

// TestClock checks that a clock never goes backwards.
func TestClock(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	clock := &netstate.Clock{Time: late, Since: []time.Time{early}}
	if !netstate.Latest(clock, early).Equal(late) || !netstate.Latest(nil, early).Equal(early) {
		t.Error("a clock went back")
	}
	if !netstate.Since(clock, 0).Equal(early) || !netstate.Since(nil, 0).IsZero() {
		t.Error("a tick at another time")
	}
	c := netstate.CopyClock(clock, 1, late)
	if c.Since[0] = late; !clock.Since[0].Equal(early) {
		t.Error("a copy is shared")
	}
	if c := netstate.CopyClock(nil, 2, late); len(c.Since) != 2 || !c.Time.Equal(late) {
		t.Errorf("%+v", c)
	}
}

// TestHasNegative checks that negative token counts are found.
func TestHasNegative(t *testing.T) {
	if netstate.HasNegative(&netstate.NetData{Marking: []int{0, 1}}) || !netstate.HasNegative(&netstate.NetData{Marking: []int{1, -1}}) {
		t.Error("a negative number of tokens is not told")
	}
}

// TestDebt checks that a state with a debt differs from the default state.
func TestDebt(t *testing.T) {
	d := &netstate.NetData{Marking: []int{1}}
	netstate.SetDebt(d, &netstate.Debt{Amount: big.NewRat(2, 1)})
	if d.Debt().Amount.RatString() != "2" || (&netstate.NetData{}).Debt() != nil {
		t.Errorf("%+v", d.Debt())
	}
	if netstate.EqualsDefault(d, &netstate.NetData{Marking: []int{1}}) {
		t.Error("it is as the net at large")
	}
	values := &netstate.Values{}
	netstate.Put(values, "a", &netstate.NetData{Marking: []int{1}})
	netstate.Put(values, "b", d)
	if values.Get("a").Debt() != nil || values.Get("b").Debt() == nil {
		t.Error("a debt is that of another value")
	}
}

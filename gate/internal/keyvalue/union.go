package keyvalue

import "slices"

// A Union contains the values of a call in several keys of a net. Each key is represented by one
// bit.
type Union struct {
	Values []Value
	Keys   uint64 // keys that have all the values, see [Union.KeysOf]
}

// Add adds the values of one key.
func (u *Union) Add(values []Value, key uint64) {
	switch {
	case u.Keys&key != 0:
		return
	case u.Values == nil:
		u.Values, u.Keys = values, key // shared with other nets
		return
	case u.Values[0].Keys == 0:
		u.Values = slices.Clone(u.Values)
		for i := range u.Values {
			u.Values[i].Keys = u.Keys
		}
	}
	u.Keys |= key
	at := make(map[string]int, len(u.Values))
	for i := range u.Values {
		at[u.Values[i].Text] = i
	}
	for _, v := range values {
		if i, ok := at[v.Text]; ok {
			if old := &u.Values[i]; key < old.Keys&-old.Keys {
				old.Named = v.Named // use the field names of its first key
			}
			u.Values[i].Keys |= key
			continue
		}
		v.Keys = key
		u.Values = append(u.Values, v)
	}
}

// KeysOf returns the keys that have the value.
func (u *Union) KeysOf(v *Value) uint64 {
	if v.Keys != 0 {
		return v.Keys
	}
	return u.Keys
}

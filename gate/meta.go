package gate

import "reflect"

// cloned returns a non-nil copy of m, including copies of the maps and slices in it, so that
// in-place changes by a hook can be undone.
func cloned(m Meta) Meta {
	c := make(Meta, len(m))
	for key, v := range m {
		switch v.(type) {
		case nil, string, bool, float64, int, int64: // immutable
			c[key] = v
		default:
			c[key] = copied(reflect.ValueOf(v)).Interface()
		}
	}
	return c
}

// copied returns a copy of v if it is a map or a slice, and v otherwise.
func copied(v reflect.Value) reflect.Value {
	switch {
	case v.Kind() == reflect.Interface && !v.IsNil():
		return copied(v.Elem())
	case v.Kind() == reflect.Map && !v.IsNil():
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for of := v.MapRange(); of.Next(); {
			m.SetMapIndex(of.Key(), copied(of.Value()))
		}
		return m
	case v.Kind() == reflect.Slice && !v.IsNil():
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(copied(v.Index(i)))
		}
		return s
	}
	return v
}

package gate

import "reflect"

// cloned returns a copy of m, which is never nil, with copies of the maps and lists in it, so
// that what a hook changes in place can be undone.
func cloned(m Meta) Meta {
	c := make(Meta, len(m))
	for key, v := range m {
		switch v.(type) {
		case nil, string, bool, float64, int, int64: // nothing in them can change
			c[key] = v
		default:
			c[key] = copied(reflect.ValueOf(v)).Interface()
		}
	}
	return c
}

// copied returns a copy of v, if it is a map or a list.
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

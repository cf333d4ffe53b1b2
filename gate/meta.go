package gate

import "reflect"

// cloneMeta returns a non-nil copy of m. It also copies the maps and slices in m, so that a hook's
// changes to them can be undone.
func cloneMeta(m Meta) Meta {
	c := make(Meta, len(m))
	for key, v := range m {
		switch v.(type) {
		case nil, string, bool, float64, int, int64: // values of these types are immutable
			c[key] = v
		default:
			c[key] = cloneValue(reflect.ValueOf(v)).Interface()
		}
	}
	return c
}

// cloneValue returns a copy of v if it is a map or a slice, and v otherwise.
func cloneValue(v reflect.Value) reflect.Value {
	switch {
	case v.Kind() == reflect.Interface && !v.IsNil():
		return cloneValue(v.Elem())
	case v.Kind() == reflect.Map && !v.IsNil():
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for of := v.MapRange(); of.Next(); {
			m.SetMapIndex(of.Key(), cloneValue(of.Value()))
		}
		return m
	case v.Kind() == reflect.Slice && !v.IsNil():
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(cloneValue(v.Index(i)))
		}
		return s
	}
	return v
}

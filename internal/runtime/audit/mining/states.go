package mining

// entry returns m[key], creating the entry if necessary. If m has reached the limit, the new entry
// is not stored.
func entry[K comparable, V any](m map[K]*V, key K, limit int) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		if len(m) < limit {
			m[key] = v
		}
	}
	return v
}

// stateOf returns a copy of m[key], or the zero value if the key is missing.
func stateOf[K comparable, V any](m map[K]*V, key K) (v V) {
	if of := m[key]; of != nil {
		v = *of
	}
	return v
}

// groupBy groups the elements by key, preserving their order.
func groupBy[K comparable, V any](all []V, key func(V) K) map[K][]V {
	by := map[K][]V{}
	for _, v := range all {
		by[key(v)] = append(by[key(v)], v)
	}
	return by
}

// A sessionSet is a set of at most maxSessions session names.
type sessionSet map[string]bool

func (s *sessionSet) add(session string) {
	if *s == nil {
		*s = sessionSet{}
	}
	if len(*s) < maxSessions {
		(*s)[session] = true
	}
}

package mining

// entry returns the entry for a key, and creates it if it is missing. If the map already has limit
// entries, the new entry is not stored, and changes to it are lost.
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

// stateOf returns a copy of the entry for a key, or the zero value if the entry is missing.
func stateOf[K comparable, V any](m map[K]*V, key K) (v V) {
	if of := m[key]; of != nil {
		v = *of
	}
	return v
}

// groupBy returns the elements by key, in order.
func groupBy[K comparable, V any](all []V, key func(V) K) map[K][]V {
	by := map[K][]V{}
	for _, v := range all {
		by[key(v)] = append(by[key(v)], v)
	}
	return by
}

// A sessionSet is a set of session names. It does not grow beyond maxSessions.
type sessionSet map[string]bool

func (s *sessionSet) add(session string) {
	if *s == nil {
		*s = sessionSet{}
	}
	if len(*s) < maxSessions {
		(*s)[session] = true
	}
}

package splice

import "slices"

// A segment is a piece of a file that stays as it is. The segments of one name are an
// entry, or a part of the file that is known by a name; the others have none.
type segment[T any] struct {
	name  string
	entry bool
	text  T
}

// replaced removes entries, and puts more where the first of them was; end is the place if
// there is none.
func replaced[T any](all []segment[T], remove []string, more []segment[T], end int) []segment[T] {
	at := slices.IndexFunc(all, func(s segment[T]) bool { return s.entry && slices.Contains(remove, s.name) })
	if at < 0 {
		at = end
	}
	var rest []segment[T]
	for i, s := range all {
		if i == at {
			rest = append(rest, more...)
		}
		if !s.entry || !slices.Contains(remove, s.name) {
			rest = append(rest, s)
		}
	}
	if at >= len(all) {
		rest = append(rest, more...)
	}
	return rest
}

// restored removes the entry that is called ours, and puts entries of old back: the first where
// ours was if it fits there, each other behind the one that it followed.
func restored[T any](all, old []segment[T], names []string, ours string, fits func(T) bool) []segment[T] {
	at := slices.IndexFunc(all, func(s segment[T]) bool { return s.entry && s.name == ours })
	all = slices.DeleteFunc(slices.Clone(all), func(s segment[T]) bool { return s.entry && s.name == ours })
	for i, s := range old {
		if !s.entry || !slices.Contains(names, s.name) {
			continue
		}
		to := behind(all, old[:i])
		switch {
		case at >= 0 && at >= to && fits(s.text): // else ours was moved
			to = at
		case to < 0:
			to = before(all, old[i+1:])
		}
		all = slices.Insert(all, to, s)
		at = -1
	}
	return all
}

// behind is the index behind the last of the earlier segments that is still there, or -1.
func behind[T any](all, earlier []segment[T]) int {
	for i := len(earlier) - 1; i >= 0; i-- {
		if at := last(all, earlier[i]); at >= 0 {
			return at + 1
		}
	}
	return -1
}

// before is the index of the first of the later segments that is still there, or the end.
func before[T any](all, later []segment[T]) int {
	for _, s := range later {
		if at := slices.IndexFunc(all, func(o segment[T]) bool { return same(o, s) }); at >= 0 {
			return at
		}
	}
	return len(all)
}

func last[T any](all []segment[T], s segment[T]) int {
	for i := len(all) - 1; i >= 0; i-- {
		if same(all[i], s) {
			return i
		}
	}
	return -1
}

func same[T any](a, b segment[T]) bool { return a.name != "" && a.name == b.name && a.entry == b.entry }

func anywhere[T any](T) bool { return true }

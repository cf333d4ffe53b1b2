package splice

import "slices"

// A segment is a piece of a file. Edits move or remove a segment only as a whole. A segment that
// contains an entry, a key or a table header has a name. Edits use the names to find the same
// segment in two versions of a file.
type segment[T any] struct {
	name  string
	entry bool
	text  T
}

// replaced returns a copy of the segments, with the new segments in place of the named entries. The
// new segments take the place of the first removed entry. If no entry is removed, they are inserted
// at the given index.
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

// restored returns a copy of the segments without petrigate's own entry and with the named entries
// of an earlier version of the file. The first of these entries takes the place of petrigate's
// entry, if possible. The others are inserted next to segments that were their neighbors in the
// earlier version. The callback reports whether a segment can be moved to another place.
func restored[T any](all, old []segment[T], names []string, ours string, fits func(T) bool) []segment[T] {
	at := slices.IndexFunc(all, func(s segment[T]) bool { return s.entry && s.name == ours })
	all = slices.DeleteFunc(slices.Clone(all), func(s segment[T]) bool { return s.entry && s.name == ours })
	for i, s := range old {
		if !s.entry || !slices.Contains(names, s.name) {
			continue
		}
		to := indexAfter(all, old[:i])
		switch {
		case at >= 0 && at >= to && fits(s.text): // take the place of petrigate's entry, unless the user has moved that entry toward the start of the file
			to = at
		case to < 0:
			to = indexBefore(all, old[i+1:])
		}
		all = slices.Insert(all, to, s)
		at = -1
	}
	return all
}

// indexAfter returns the index after the last of the earlier segments that still exists, or -1 if
// none of them exists.
func indexAfter[T any](all, earlier []segment[T]) int {
	for i := len(earlier) - 1; i >= 0; i-- {
		if at := last(all, earlier[i]); at >= 0 {
			return at + 1
		}
	}
	return -1
}

// indexBefore returns the index of the first of the later segments that still exists, or the number
// of segments if none of them exists.
func indexBefore[T any](all, later []segment[T]) int {
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

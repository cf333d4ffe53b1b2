package rawjson

// Member returns the value of the first member of the object obj with the given key, compared after
// decoding. The value is a slice of obj. A document accepted by [Check] has at most one such
// member.
func Member(obj []byte, key string) (value []byte, ok bool) {
	Members(obj, func(k, v []byte, _ int) bool {
		if string(k) == key {
			value, ok = v, true
		}
		return !ok
	})
	return value, ok
}

// MemberAt follows a path of keys through nested objects and returns the value at its end.
func MemberAt(obj []byte, keys ...string) (value []byte, ok bool) {
	for _, key := range keys {
		if obj, ok = Member(obj, key); !ok {
			return nil, false
		}
	}
	return obj, true
}

// StringAt follows a path of keys through nested objects and returns the string at its end. It
// returns "" if a key is missing or the value is not a string.
func StringAt(obj []byte, keys ...string) string {
	value, _ := MemberAt(obj, keys...)
	s, _ := String(value)
	return s
}

// Members calls yield for each member of the object obj in source order, until yield returns false.
// The key is decoded; it is a slice of obj if it has no escapes. The value is a slice of obj that
// begins at offset start.
//
// Members returns true if it has read all of obj. It returns false if yield returned false, if obj
// is not an object, or if it finds a syntax error, such as text after the object. Before it finds
// an error, it may already have called yield for some members.
func Members(obj []byte, yield func(key, value []byte, start int) bool) bool {
	return each(obj, '{', '}', yield)
}

// Elements calls yield for each element of the array arr in order, until yield returns false. The
// value is a slice of arr that begins at offset start. Elements returns true if it has read all of
// arr. It returns false if yield returned false, if arr is not an array, or if it finds a syntax
// error.
func Elements(arr []byte, yield func(value []byte, start int) bool) bool {
	return each(arr, '[', ']', func(_, value []byte, start int) bool { return yield(value, start) })
}

// each implements [Members] and [Elements]; the elements of an array have a nil key.
func each(doc []byte, open, end byte, yield func(key, value []byte, start int) bool) bool {
	i := skipSpace(doc, 0)
	if peek(doc, i) != open {
		return false
	}
	i = skipSpace(doc, i+1)
	if peek(doc, i) == end {
		return skipSpace(doc, i+1) == len(doc)
	}
	for {
		var key []byte
		at := i
		if open == '{' {
			if key, at = memberKey(doc, i); at < 0 {
				return false
			}
		}
		last := Skip(doc, at)
		if last < 0 || !yield(key, doc[at:last:last], at) {
			return false
		}
		switch i = skipSpace(doc, last); peek(doc, i) {
		case ',':
			i = skipSpace(doc, i+1)
		case end:
			return skipSpace(doc, i+1) == len(doc)
		default:
			return false
		}
	}
}

// memberKey reads the key at offset i and the colon after it. It returns the key and the offset of
// the value. If the key or the colon is invalid, the offset is -1.
func memberKey(obj []byte, i int) (key []byte, start int) {
	if peek(obj, i) != '"' {
		return nil, -1
	}
	end, escaped, msg := scanString(obj, i)
	if msg != "" {
		return nil, -1
	}
	key = obj[i+1 : end-1 : end-1]
	if escaped {
		key = unescape(key)
	}
	if i = skipSpace(obj, end); peek(obj, i) != ':' {
		return nil, -1
	}
	return key, skipSpace(obj, i+1)
}

// Kind returns the kind of a value: '{', '[', '"', 't', 'f', 'n', or '0' for a number. It looks
// only at the first byte, and returns 0 if no value can start with that byte.
func Kind(value []byte) byte {
	switch c := peek(value, skipSpace(value, 0)); {
	case c == '-' || isDigit(c):
		return '0'
	case c == '{' || c == '[' || c == '"' || c == 't' || c == 'f' || c == 'n':
		return c
	}
	return 0
}

package jsonpath

// Single returns the value that the path selects in doc. ok is false if the path selects no value
// or several values, or if parsers might disagree about the value.
func (p Path) Single(doc []byte) (value []byte, ok bool) {
	var s single
	p.values(doc, p.Many(), s.add)
	return s.value, s.ok()
}

// SingleMember returns the value of a top-level member. ok is false if the member does not exist,
// or if parsers might disagree about its value.
func SingleMember(doc []byte, key string) (value []byte, ok bool) {
	var s single
	eachMember(doc, key, false, s.add)
	return s.value, s.ok()
}

// A single holds the last value added to it. It also counts the values and records whether parsers
// may disagree about any of them.
type single struct {
	value  []byte
	values int
	doubt  bool
}

func (s *single) add(value []byte, doubt bool) {
	s.value, s.doubt = value, s.doubt || doubt
	s.values++
}

func (s *single) ok() bool { return s.values == 1 && !s.doubt }

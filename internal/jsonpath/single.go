package jsonpath

// Single returns the value in doc that the path selects. ok is false if the path selects no value
// or several, or if readers of the document might disagree on the value.
func (p Path) Single(doc []byte) (value []byte, ok bool) {
	var s single
	p.values(doc, p.Many(), s.add)
	return s.value, s.ok()
}

// SingleMember is [Path.Single] for a top-level member of a document.
func SingleMember(doc []byte, key string) (value []byte, ok bool) {
	var s single
	eachMember(doc, key, false, s.add)
	return s.value, s.ok()
}

// single stores the last value added, counts all of them, and records whether any was doubtful.
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

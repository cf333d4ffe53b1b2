package jsonpath

// Single returns the value in doc to which the path leads. It is not ok if there is
// none, or more than one, or if readers of the document may not agree which it is.
func (p Path) Single(doc []byte) (value []byte, ok bool) {
	var s single
	p.values(doc, p.Many(), s.put)
	return s.value, s.ok()
}

// SingleMember is [Path.Single] of a member of a document.
func SingleMember(doc []byte, key string) (value []byte, ok bool) {
	var s single
	eachMember(doc, key, false, s.put)
	return s.value, s.ok()
}

// single is the only value of some.
type single struct {
	value  []byte
	values int
	doubt  bool
}

func (s *single) put(value []byte, doubt bool) {
	s.value, s.doubt = value, s.doubt || doubt
	s.values++
}

func (s *single) ok() bool { return s.values == 1 && !s.doubt }

package toolnet

// Ignored is an argument of a tool that describes or times a call and changes nothing that the call does, such
// as a description for people: two calls that differ in nothing else are equal.
type Ignored struct {
	Tool  string // a name that calls certainly have
	Field string // a member of the arguments

	// Usual says that this holds for the tool wherever it is used, as its makers define it. It is no part of
	// the fingerprint of a policy.
	Usual bool `json:"-"`
}

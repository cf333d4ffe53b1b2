package toolnet

// Ignored is an argument of a tool that describes or times a call without changing its effect, such
// as a description for people. Two calls that differ only in ignored arguments are equal.
type Ignored struct {
	Tool  string // a name that calls certainly have
	Field string // key of the argument

	// Usual means that the makers of the tool define the argument in this way, so that the entry
	// holds wherever the tool is used. Usual is not part of the fingerprint of a policy.
	Usual bool `json:"-"`
}

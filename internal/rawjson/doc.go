// Package rawjson reads JSON without decoding it: it checks a document once, strictly, and then
// finds members and elements as slices of the source.
//
// The proxy decides on a message, shows it to people, records it and forwards it. The receiver may
// use a different JSON parser, but must not read the message differently. Therefore, [Check]
// accepts only documents that all parsers read in the same way: RFC 8259 with unique keys (compared
// after decoding), valid UTF-8, no NUL and no lone surrogates. Accepted documents are forwarded
// byte for byte, so numbers keep their spelling and members their order.
//
//	if err := rawjson.Check(doc, 128); err != nil {
//		return err // a *SyntaxError with the offset
//	}
//	name, ok := rawjson.Member(doc, "name")
//
// The lookups ([Member], [Members], [Elements], [Skip], [String], [Strings], [Leaves]) expect a
// document accepted by Check. With other documents, they never panic, but they do not detect every
// syntax error. When they skip an object or array, for example, they only check that its brackets
// are balanced.
//
// Check, Member, Members, Elements and Skip allocate memory only for keys with escapes and for
// objects with many keys.
package rawjson

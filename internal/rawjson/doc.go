// Package rawjson reads JSON without decoding it: it checks a document once,
// strictly, and then finds members and elements as slices of the source.
//
// The proxy decides on a message, shows it to people, records it and forwards
// it. All of them have to see the same thing, whatever parser the other side
// uses. So [Check] accepts only documents on which all parsers agree: RFC 8259
// with unique keys (compared after decoding), valid UTF-8, no NUL and no lone
// surrogate. What is accepted travels as the bytes that came, so numbers keep
// their lexemes and members their order.
//
//	if err := rawjson.Check(doc, 128); err != nil {
//		return err // a *SyntaxError with the offset
//	}
//	name, ok := rawjson.Member(doc, "name")
//
// The lookups ([Member], [Members], [Elements], [Skip], [String], [Strings], [Leaves])
// are meant for documents that Check accepted. On others they never panic,
// and look no deeper than they must: a value that is skipped is known to be
// balanced, and nothing else.
//
// Nothing here allocates on the normal path; keys and strings with escapes
// are the exception, as are objects with many keys.
package rawjson

// Package approval holds the questions that are put to people before calls are
// made, and what people answered.
//
// A [Question] is about one very call, see [Key], and shows all of it. Calls that
// ask the same share it. In a [Book] each question has one answer, the first, and
// a consent lets one call pass, once, within its time: whoever would use it up
// does so under the lock of the book. Nobody is asked here: the book says where a
// question stands to those who can ask.
package approval

// Package judged holds tables of whole pieces of work against the program: tricks by which an agent looks done without
// doing the task, and honest work that a maintainer would take. It has tests only;
// testdata/format.md says how a case is written.
package judged

package check

// UnfinishedCheck is the name of the check of unfinished work.
const UnfinishedCheck = "unfinished"

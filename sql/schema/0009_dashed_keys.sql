-- Columns of members are filled anew, as a member is found by its key with dashes, too: `user-agent` is in the column of `user_agent`.
update member_sets set generation = generation + 1;

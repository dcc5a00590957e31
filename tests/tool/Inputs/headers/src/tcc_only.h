enum { OF_TCC = 1 };

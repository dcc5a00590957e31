double scale_of(int i) TC_CONST;
TC_CONST_IS(3) int heads(void);
void set_heads(int n);
__attribute__((const)) float offset_of(int i, float x);

"""One draw with recorded noise. It patches private parts of other libraries: kept apart.

It may import `loading` and the layers below; `answering` and `explaining` import it.
"""

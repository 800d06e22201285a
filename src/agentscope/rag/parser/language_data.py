"""What written languages look like: letters beyond ASCII and short words, most frequent first.

Written by hand for two questions: which encoding makes sense of some bytes, and which language
a text is in. The order within a list matters, its exact frequencies do not.
"""

from dataclasses import dataclass

_WEST = "cp1252 iso8859_15 cp850 cp437 mac_roman"
_CENTRAL = "cp1250 iso8859_2 cp852 mac_latin2"
_BALTIC = "cp1257 iso8859_13 iso8859_4 cp775"
_NORTH = _WEST + " cp865 iso8859_10"
_CYRILLIC = "cp1251 koi8_r cp866 iso8859_5 mac_cyrillic cp855"
_SLAVIC_CYRILLIC = "cp1251 iso8859_5 mac_cyrillic cp855"


@dataclass(frozen=True, slots=True)
class Language:
    """One language; `prior` is the log of how much rarer than the most common ones it is."""

    code: str
    script: str
    codecs: tuple[str, ...]
    letters: str
    words: frozenset[str]
    prior: float = 0.0


def _language(
    code: str, script: str, codecs: str, letters: str, words: str, prior: float = 0.0
) -> Language:
    return Language(code, script, tuple(codecs.split()), letters, frozenset(words.split()), prior)


LANGUAGES = (
    _language(
        "en",
        "latin",
        _WEST + " cp500 cp037",
        "’“”–—‘£é…",
        "the of and to in is that for it with as was on are be by at this from or have an not",
    ),
    _language(
        "de",
        "latin",
        _WEST + " iso8859_2 cp273 cp500",
        "üäöß–„“é",
        "der die und in das den von zu ist mit des auf für nicht ein eine im dem sich auch es an "
        "als wird werden über können ich wir sie oder nach bei aus",
    ),
    _language(
        "fr",
        "latin",
        _WEST + " cp863 cp500",
        "éèàêç’ùîôûâœëï«»É",
        "de la le les et des en un une du est que pour dans qui par sur au plus ne pas ce sont à "
        "avec il être été aux se cette ou elle",
    ),
    _language(
        "es",
        "latin",
        _WEST + " cp500",
        "óáíéñúü¿¡«»ºª",
        "de la que el en y los del se las por un para con una no su al es lo como más pero sus o "
        "este sí entre cuando muy sin sobre también está años",
    ),
    _language(
        "pt",
        "latin",
        _WEST + " cp860",
        "ãçáéóêíõâúàôü",
        "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das "
        "à seu sua ou quando muito já também só pelo pela até isso são",
    ),
    _language(
        "it",
        "latin",
        _WEST,
        "èàòùéìÈ",
        "di e il la che in un a per è una sono della con non del le i si da come al dei più nel "
        "alla anche o ma questo",
        -0.3,
    ),
    _language(
        "nl",
        "latin",
        _WEST,
        "ëéïóèüö",
        "de van het een en in is dat op te voor met zijn die niet aan er om ook als dan maar bij "
        "of uit nog naar heeft",
        -0.5,
    ),
    _language(
        "sv",
        "latin",
        _NORTH,
        "äåöé",
        "och i att det som en på är av för med den till inte om ett de har jag var så men från "
        "eller när kan",
        -0.5,
    ),
    _language(
        "da",
        "latin",
        _NORTH,
        "øåæé",
        "og i at det er en til af på for med de den som ikke der et har var om men vi han jeg "
        "eller fra kan",
        -0.7,
    ),
    _language(
        "no",
        "latin",
        _NORTH,
        "åøæéòôó",
        "og i det er på en til av for som med at har ikke de den et om var fra jeg men vi eller "
        "kan ved",
        -0.7,
    ),
    _language(
        "fi",
        "latin",
        _NORTH + " iso8859_4 iso8859_13",
        "äöåÄ",
        "ja on ei se että oli hän joka mutta ovat tai kun myös sen niin ole kuin jos sekä voi",
        -0.7,
    ),
    _language(
        "is",
        "latin",
        _WEST + " cp861 iso8859_10",
        "íáðóöúéþæýÞÍÁ",
        "og að í á er sem til um það við en hann með ekki var af fyrir eru þar",
        -1.5,
    ),
    _language(
        "et",
        "latin",
        "cp1257 cp1252 iso8859_15 iso8859_13 iso8859_4",
        "äõüöšž",
        "ja on ei et see ta oli kui ka mis ning oma seda aga või mida olid",
        -1.2,
    ),
    _language(
        "ca",
        "latin",
        _WEST,
        "àèéíòóçïúü·",
        "de la i el que en a els per un les amb una del al és no es seva són com o més",
        -1.2,
    ),
    _language(
        "ga",
        "latin",
        "cp1252 iso8859_15 iso8859_14",
        "áíéóúÁÉÍ",
        "an na a ar agus i is le do go sé ag tá bhí leis aon nó gach chun ina",
        -1.8,
    ),
    _language(
        "cy",
        "latin",
        "cp1252 iso8859_14",
        "ŵŷâêôîûïëö",
        "y a yn i o ar yr ac wedi ei am bod gan mae i'r oedd neu",
        -2.0,
    ),
    _language(
        "sq",
        "latin",
        "cp1252 iso8859_15 iso8859_2",
        "ëç",
        "të e në për dhe që një me nga i së si është u ka nuk më",
        -1.8,
    ),
    _language(
        "id",
        "latin",
        "cp1252",
        "é–",
        "yang dan di dengan untuk dalam ini itu dari pada adalah tidak akan setiap atau",
        -1.0,
    ),
    _language(
        "pl",
        "latin",
        _CENTRAL + " iso8859_16 iso8859_13",
        "ęłóążśćńźŁŚŻ",
        "w i na z się do nie jest to że o jak po co od za ale oraz przez tym dla są jego lub "
        "może jest który które każdy",
        -0.2,
    ),
    _language(
        "cs",
        "latin",
        _CENTRAL,
        "íáěéřýščžůúťóďňŽČŘ",
        "a v se na je že o do s z i to jako ve k za pro by po jsou nebo jeho od které být má "
        "když také",
        -0.4,
    ),
    _language(
        "sk",
        "latin",
        _CENTRAL,
        "áíýčéšžúľťôňäďóŕĺ",
        "a v sa na je že o do s z aj to ako vo k za pre by po sú alebo jeho od ktoré byť má keď",
        -0.9,
    ),
    _language(
        "hu",
        "latin",
        _CENTRAL + " iso8859_16",
        "áéőöóüíúűÁÉÖŐ",
        "a az és hogy nem is egy van ez volt meg csak el már de ha azt mint vagy minden kell "
        "lehet szerint után még",
        -0.3,
    ),
    _language(
        "ro",
        "latin",
        _CENTRAL + " iso8859_16",
        "ăîâșțşţŞŢȘȚÎ",
        "de și şi în a la cu din pe un o care este nu se ce mai sunt pentru să prin au fi sau "
        "orice",
        -0.6,
    ),
    _language(
        "hr",
        "latin",
        _CENTRAL + " iso8859_16 iso8859_13",
        "čšžćđŠŽČ",
        "i u je na se da za su od s a ne koji kao te o bi što iz ili biti sve svoje ima",
        -0.6,
    ),
    _language(
        "sl",
        "latin",
        _CENTRAL + " iso8859_16 iso8859_13 iso8859_4",
        "čšžŠŽČ",
        "in je v na se da za so z pa ki o ne kot ali tudi po iz od ima s bi",
        -0.8,
    ),
    _language(
        "lt",
        "latin",
        _BALTIC + " iso8859_10",
        "ėšųžįąčūęŠŽ",
        "ir į kad yra su o iš kaip tai ar už jo bet buvo nuo savo taip pat per teisę",
        -0.8,
    ),
    _language(
        "lv",
        "latin",
        _BALTIC + " iso8859_10",
        "āīēšņūļžķģčŠŽ",
        "un ir ar par no uz kas ka vai tas kā to pie bija viņa lai ne arī gan tiesības",
        -0.9,
    ),
    _language(
        "tr",
        "latin",
        "cp1254 iso8859_9 cp857 iso8859_3 mac_turkish",
        "ıüşçğöİâîŞÇÖÜ",
        "ve bir bu da de için ile olarak olan çok daha gibi ne en o var kadar sonra her veya "
        "değil ama hak",
        -0.2,
    ),
    _language(
        "eo",
        "latin",
        "iso8859_3",
        "ĝĉŝŭĵĥĈĜ",
        "la kaj de en al estas por kiu mi ne ke el pri per kun li aŭ ĉiu havas ili",
        -1.2,
    ),
    _language(
        "mt",
        "latin",
        "iso8859_3",
        "ħżċġàòùìĦĠ",
        "li ta u il l tal fil biex għal huwa kull jew minn dan ma hija",
        -1.2,
    ),
    _language(
        "vi",
        "latin",
        "cp1258 viscii tcvn",
        "\u0301\u0300\u0323\u0309\u0303đàáạảãâấầậẩẫăắằặẳẵêếềệểễôốồộổỗơớờợởỡưứừựửữéèẹẻẽ"
        "íìịỉĩóòọỏõúùụủũýỳỵỷỹĐ",
        "và của có là các không được cho trong một người với đã này những mọi đều hay",
        -0.4,
    ),
    _language(
        "ru",
        "cyrillic",
        _CYRILLIC,
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё«»—",
        "и в не на что с по как это он к но из у за от о для все так же был его то или при "
        "до его также",
    ),
    _language(
        "uk",
        "cyrillic",
        "cp1251 koi8_u iso8859_5 mac_cyrillic cp1125",
        "оанитівреслкдумпязьбгчйхцїжюєшщфґ«»—",
        "і в на з не та що до у за як від для про або це його є й по при",
        -0.4,
    ),
    _language(
        "be",
        "cyrillic",
        _SLAVIC_CYRILLIC,
        "аніеорятслкдыуцьзўмпёвгбчжйхшюфэ",
        "і ў на з не да што як у за па для або яго ад пра ён",
        -1.3,
    ),
    _language(
        "bg",
        "cyrillic",
        _SLAVIC_CYRILLIC + " cp866",
        "аеиотнрсвлкдпмзуябгъчщжхцшюйфь„“",
        "на и да се за в от не с по е като са че до или при това към който му",
        -0.4,
    ),
    _language(
        "sr",
        "cyrillic",
        _SLAVIC_CYRILLIC,
        "аоиенртсјуквдмплзгбчшцжњхљћђф",
        "и у је на се да за су од са не који као о из или до по",
        -0.9,
    ),
    _language(
        "mk",
        "cyrillic",
        _SLAVIC_CYRILLIC,
        "аоеинтрсвдкјплмузгбшчцжњхљќѓѕфџ",
        "на и да се во за од со не е како што ги или по си",
        -1.1,
    ),
    _language(
        "kk",
        "cyrillic",
        "ptcp154 kz1048",
        "аеныірлдтмсқбғоуйжпіңкшүгөзұәхэчю",
        "және мен бір үшін бұл әр деп",
        -2.5,
    ),
    _language(
        "el",
        "greek",
        "cp1253 iso8859_7 cp737 mac_greek cp869",
        "αοιτεσνηυρπκμλςάίόέδήγύώχθφβωξζψϊΐ«»",
        "και το του η της την να με των για τα ο οι από στο που τη είναι σε στην τον ή δεν",
    ),
    _language(
        "he",
        "hebrew",
        "cp1255 iso8859_8 cp862",
        "יוהלאתמרבשנםדכקעפחצגטסזןךףץ\u05b0\u05b7",
        "של את על לא הוא עם זה כל או גם אל היא כי אדם",
    ),
    _language(
        "ar",
        "arabic",
        "cp1256 iso8859_6 mac_arabic",
        "اليمونترهبسدعفقكحةجأشطصخىإذزضثغآئؤءظ،ـ",
        "في من على أن إلى عن التي هذا هذه مع لا ما أو كل ذلك كان",
    ),
    _language(
        "fa",
        "arabic",
        "cp1256 mac_farsi",
        "ايردنهتمبوسشكگزخعقلحجفآپطصضچغثذئظژ\u200cیک،",
        "و در به از كه اين را با است براي آن يك خود تا هر بر يا که این",
        -0.6,
    ),
    _language(
        "th", "thai", "cp874 tis_620", "านรกเองมยลว่้ดทสตะปบคหีิัแไใพชจขถผฟศโซ็ูุึืำณษธญภฉฝฐฎฏฆฬฌฒฑฮ๊๋์ๆฯ", ""
    ),
    _language("ka", "georgian", "", "აიერსოლნდმვტუბგხთქშკცყზწძპჩღფჰჯჟ", ""),
    _language("hy", "armenian", "", "աեիոնրուլկմտվսպհդգյբթշքչցզձղղճխծըօջժֆ", ""),
    _language("hi", "devanagari", "", "ाेरकी्नंससतिमलपहोवदजुैयबअगआशभटइणथचड़खूषए", "के है और की में से का को"),
    _language("bn", "bengali", "", "ােরিন্কবতসমলপদহুগশয়জটআএ", "এবং ও থেকে এই করে"),
    _language("ta", "tamil", "", "்ுகதிரமாபனடலவயைளசஅஇறெஎண", "மற்றும் ஒரு என்று"),
    _language("zh", "han", "gb18030 hz", "", ""),
    _language("zh-Hant", "han", "big5hkscs cp950 euc-tw", "", ""),
    _language("ja", "kana", "cp932 euc_jp", "", ""),
    _language("ko", "hangul", "cp949 johab", "", ""),
)

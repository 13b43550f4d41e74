r"""The words of the sample crawl: twenty languages, and for each word the words that must be counted for it.

A plain word is listed in lower case, consists of letters and digits only, and is counted as it is. An odd word is
listed as pages write it, together with what it counts as, determined by hand from the rule "maximal runs of `\w` in the
lower-cased text": an apostrophe, a hyphen and a combining mark end a word, a capital dotted I becomes an i and a mark,
a capital sigma at the end of a word becomes a final one. Nothing here is computed.

Every character used is older than Unicode 5.1, so that all supported Pythons agree on it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CAPITALS", "COMMON", "LANGUAGES", "Language", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written in a page, and the words that must be counted for it."""

    written: str
    counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its names in CLD2, the charsets of its pages, its words, and the separators between them."""

    code: str
    iso: str
    name: str
    charsets: tuple[str, ...]
    plain: tuple[str, ...]
    odd: tuple[Word, ...] = ()
    syllables: tuple[str, ...] = ()
    gap: str = " "
    pauses: tuple[str, ...] = (", ", "; ", " – ", ": ")
    stops: tuple[str, ...] = (".", ".", "!", "?", "…")


# Letters whose capital becomes the small letter again under str.lower(), in any context.
CAPITALS = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzабвгдежзиклмнопрстуфхцчшщэюяαβγδεζηθικλμνοπρτφχψω",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯΑΒΓΔΕΖΗΘΙΚΛΜΝΟΠΡΤΦΧΨΩ",
        strict=True,
    )
)


def _plain(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _odd(table: str) -> tuple[Word, ...]:
    """The words of a table of `written=counted counted`, separated by bars."""
    pairs = (entry.split("=") for entry in table.split(" | "))
    return tuple(Word(written, tuple(counted.split())) for written, counted in pairs)


_LATIN = _plain("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bri cla dro fle gro pli sta tre")
_CYRILLIC = _plain("ба ве ги до жу за ки ло му на пе ри со ту фа хо це чи ша щу")
_GREEK = _plain("βα γε δι ζο θη κα λε μι νο ξυ πα ρε σι το φα χε ψι")
_ARABIC = _plain("با تي جو حا دي را سو شا صا طي عا في قو كا لو ما ني ها وي")
_HEBREW = _plain("בא גו די הא וי זה חו טא יש כל לו מה נא סו עד פה צו קר שם תא")
_NAGARI = _plain("क ख ग च ज ट ड त द न प ब म य र ल व स ह")
_THAI = _plain("กา ขา คน งาน จอด ชาย ดาว ตา ทาง นา บาน ปลา ฝน มา ยาว รอ ลม วาง สาม หา อา")
_HAN = tuple("山川風花雪月天地人車東西南北金木水火土日本海空星石田村町社駅店語文学校")
_KANA = tuple("カキクケコサシスセソタチツテトナニヌネノマミムメモラリルレロン")
_HANGUL = tuple("가나다라마바사아자차카타파하고노도로모보소오조초")

# Words in every language: numbers, names with digits and underscores, and characters that markup must escape.
COMMON = _odd(
    "HTML5=html5 | snake_case=snake_case | __init__=__init__ | 3.14=3 14 | 1,000=1 000 | R&D=r d | x<y=x y | "
    "a>b=a b | C++=c | e-mail=e mail | 2026=2026 | 100%=100 | km²=km² | ½=½ | ☃snow☃=snow | ＡＢＣ=ａｂｃ | "
    "\u212a2=k2 | ﬁn=ﬁn | ǅamija=ǆamija | wort\u00adteil=wort teil | zero\u200bwidth=zero width | "
    "no\u00a0break=no break | \U00010400x=\U00010428x"
)

# Each language with its share of the pages. Not reformatted: a line here is a line of words.
# fmt: off
LANGUAGES: tuple[tuple[int, Language], ...] = (
    (30, Language(
        "en", "eng", "ENGLISH", ("UTF-8", "ISO-8859-1", "windows-1252", "US-ASCII"),
        _plain("""
            the of and to a in is for on that by this with you it not or be are from at as your all have new more an
            was we will home can us about if page my has search free but our one other do no information time they
            site he up may what which their news out use any there see only so his when contact here business who web
            also now help get view online first been would how were services some these click its like service than
            find price date back top people had list name just over state year day into email two health world next
            used go work last most products music buy data make them should product system post her city policy number
            such please available copyright support message after best software then good video well where info rights
            public books high school through each links she review years order very privacy book items company read
            group need many user said does set under general research university
        """),
        _odd(
            "don't=don t | it's=it s | O'Reilly=o reilly | rock’n’roll=rock n roll | naïve=naïve | "
            "nai\u0308ve=nai ve | re\u0301sume\u0301=re sume | AT&T=at t"
        ),
        _LATIN)),
    (8, Language(
        "ru", "rus", "RUSSIAN", ("UTF-8", "windows-1251", "KOI8-R", "ISO-8859-5"),
        _plain("""
            и в не на что он с как а то это по к но они мы весь я за от так быть для мочь год вы который из себя
            человек время дело жизнь день рука раз новый большой первый место слово друг дом страна мир город вопрос
            сторона работа случай ребёнок голова конец вид система часть деньги земля машина вода отец проблема час
            право нога решение дверь образ история власть закон война бог голос тысяча книга возможность результат
            ночь стол имя область статья число компания народ семья улица утро средство
        """),
        _odd("СССР=ссср | кто-нибудь=кто нибудь | ЁЛКА=ёлка | й\u0306=й | е\u0301жик=е жик"),
        _CYRILLIC)),
    (7, Language(
        "de", "deu", "GERMAN", ("UTF-8", "ISO-8859-1", "ISO-8859-15"),
        _plain("""
            der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er
            hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor
            zur bis mehr durch man sein wurde sei prozent hatte kann gegen vom können schon wenn habe seine mark ihre
            dann unter wir soll ich eines jahr zwei jahren diese dieser wieder keine uhr seiner worden will zwischen
            immer millionen was sagte größe straße mädchen übung öffnen
        """),
        _odd(
            "STRASSE=strasse | Straße=straße | GROẞE=große | Müller-Lüdenscheidt=müller lüdenscheidt | "
            "geht’s=geht s | u\u0308ber=u ber"
        ),
        _LATIN)),
    (6, Language(
        "fr", "fra", "FRENCH", ("UTF-8", "ISO-8859-1", "windows-1252"),
        _plain("""
            de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont avec ou son
            aux cette ont ses mais comme on tout nous sa fait été aussi leur bien peut ces y deux ans encore même
            temps très après entre sans elle être avoir faire voir pays année monde jour homme fois chez français
            école forêt où déjà hôtel noël français garçon leçon théâtre
        """),
        _odd(
            "aujourd'hui=aujourd hui | l'été=l été | qu’il=qu il | Œuvre=œuvre | peut-être=peut être | "
            "e\u0301te\u0301=e te"
        ),
        _LATIN, pauses=(", ", " ; ", " : ", " « ", " » "))),
    (6, Language(
        "es", "spa", "SPANISH", ("UTF-8", "ISO-8859-1"),
        _plain("""
            de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin
            sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque
            qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada
            vida otro después niño mañana corazón
        """),
        _odd("¿Qué=qué | ¡Olé=olé | AÑO=año | n\u0303u=n u"),
        _LATIN)),
    (6, Language(
        "ja", "jpn", "JAPANESE", ("UTF-8", "Shift_JIS", "EUC-JP", "ISO-2022-JP"),
        _plain("""
            日本 東京 時間 会社 今日 世界 情報 検索 結果 利用 商品 写真 記事 音楽 映画 大学 電話 地図 天気 新聞
            ニュース サービス ページ メール サイト ブログ データ ユーザー カテゴリー コメント これは それは ありがとう
            ください します できます について ために から まで という なります 私たち 使い方 お知らせ 東京タワー
            日本語版
        """),
        _odd("ＨＴＭＬ=ｈｔｍｌ | 第１回=第１回 | か\u3099=か | ﾃﾞｰﾀ=ﾃﾞｰﾀ | 「本」=本 | 東京・大阪=東京 大阪"),
        (*_HAN[:20], *_KANA), gap="、", pauses=("、", "　", "・"), stops=("。", "。", "！", "？"))),
    (6, Language(
        "zh", "zho", "Chinese", ("UTF-8", "GB2312", "GBK", "Big5"),
        _plain("""
            中文 中国 北京 大家 今天 公司 文章 世界 人民 生活 工作 朋友 学生 天地 山水 小心 不是 可以 一天 三月 上下
            左右 大小 日月 水果 火山 木工 金石 土地 人口 手工 口水 目光 王子 女子 方向 文化 明星 信息 科技 城市 安全
            教育 音乐 美食 旅游
        """),
        _odd("二〇二六年=二〇二六年 | 《红楼梦》=红楼梦 | 𠮷野家=𠮷野家 | 卡拉OK=卡拉ok"),
        _HAN, gap="，", pauses=("，", "、", "；"), stops=("。", "。", "！", "？"))),
    (4, Language(
        "pt", "por", "PORTUGUESE", ("UTF-8", "ISO-8859-1"),
        _plain("""
            de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das seu sua ou
            quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me esse
            eles você essa num nem suas meu minha numa pelos elas qual nós coração informações português
        """),
        _odd("guarda-chuva=guarda chuva | d'água=d água | AÇÃO=ação"),
        _LATIN)),
    (4, Language(
        "it", "ita", "ITALIAN", ("UTF-8", "ISO-8859-1"),
        _plain("""
            di e il la che in a per un del è non sono le una con della si da i al dei come ma anche lo più se nel alla
            ha gli delle questo o su era essere quando prima dopo tutto stato due anni ancora fatto molto casa tempo
            perché così città sarà può già
        """),
        _odd("l'acqua=l acqua | un’altra=un altra | PERCHÉ=perché"),
        _LATIN)),
    (4, Language(
        "tr", "tur", "TURKISH", ("UTF-8", "ISO-8859-9", "windows-1254"),
        _plain("""
            ve bir bu da de için ile çok daha olarak gibi en olan var kadar ne sonra o her ama ya yıl iki ilk son yeni
            büyük gün zaman değil göre ben sen kendi önce şey insan dünya türk ülke şehir ılık ışık sıcak kadın çocuk
            güzel küçük öğrenci
        """),
        _odd(
            "İstanbul=i stanbul | DİYARBAKIR=di yarbakir | IĞDIR=iğdir | İzmir’de=i zmir de | "
            "Türkiye'nin=türkiye nin | i\u0307ş=i ş"
        ),
        _LATIN)),
    (3, Language(
        "pl", "pol", "POLISH", ("UTF-8", "ISO-8859-2", "windows-1250"),
        _plain("""
            i w na z do nie się że to jest o jak po co za od ale tak przez dla tym czy już tylko przy może był być
            jego który bardzo jeszcze kiedy rok czas ludzie życie dzień świat praca dom ręka miasto łódź źródło żółw
            gęś ćma książka
        """),
        _odd("ŁÓDŹ=łódź | biało-czerwony=biało czerwony"),
        _LATIN)),
    (3, Language(
        "el", "ell", "GREEK", ("UTF-8", "ISO-8859-7", "windows-1253"),
        _plain("""
            και το να του η της με για που την από είναι σε ο οι στο θα τα δεν των τη στην μου τον τις ένα μας σας
            αυτό μια στα τους όχι ναι πολύ κόσμος λόγος νέα ώρα ημέρα άνθρωπος πόλη χώρα σπίτι ζωή αγάπη ελλάδα αθήνα
            θάλασσα
        """),
        _odd("ΟΔΟΣ=οδος | ΣΟΦΟΣ=σοφος | Άνθρωπος=άνθρωπος | ΟΔΟΣ-ΑΘΗΝΑ=οδος αθηνα | α\u0301λφα=α λφα | \u2126μ=ωμ"),
        _GREEK)),
    (2, Language(
        "uk", "ukr", "UKRAINIAN", ("UTF-8", "windows-1251", "KOI8-U"),
        _plain("""
            і в на що не з до це за як та від але він я ми ви вони бути мати рік час людина день країна місто робота
            життя слово світ мова україна київ її їх є ґанок наш інший перший новий великий
        """),
        _odd("п'ять=п ять | об’єкт=об єкт | ЇЖАК=їжак"),
        _CYRILLIC)),
    (3, Language(
        "ar", "ara", "ARABIC", ("UTF-8", "windows-1256", "ISO-8859-6"),
        _plain("""
            في من على إلى أن هذا التي الذي كان مع عن ما لا هو هي كل بعد قبل بين حتى عند غير يوم عام الله العربية كتاب
            بيت مدينة ماء رجل طفل شمس قمر بحر سلام خبر موقع جديد
        """),
        _odd(
            "م\u064fح\u064eم\u0651\u064eد=م ح م د | ك\u0650ت\u064eاب=ك ت اب | الل\u0651ه=الل ه | س\u064eلام=س لام | "
            "عـــام=عـــام | ٢٠٢٦=٢٠٢٦ | لا،نعم=لا نعم"
        ),
        _ARABIC, pauses=("، ", "؛ "), stops=(".", "؟"))),
    (2, Language(
        "fa", "fas", "PERSIAN", ("UTF-8",),
        _plain("""
            و در به از که این را با است برای آن یک خود تا بر هم نیز سال اما دو روز ایران تهران خانه کتاب آب مرد زن شهر
            کار زمان جهان زبان فارسی
        """),
        _odd("می\u200cخواهم=می خواهم | کتاب\u200cها=کتاب ها | ۱۴۰۴=۱۴۰۴ | ه\u0654=ه"),
        _ARABIC, pauses=("، ", "؛ "), stops=(".", "؟"))),
    (2, Language(
        "he", "heb", "HEBREW", ("UTF-8", "windows-1255"),
        _plain("""
            של את על לא זה הוא עם כל גם היא אני אם מה כי או יש אין רק עוד יותר בין אחרי לפני היום שנה עולם בית ספר מים
            ילד איש עיר ארץ ישראל עברית חדש
        """),
        _odd("ש\u05b8\u05c1לו\u05b9ם=ש לו ם | צה\"ל=צה ל | ב\u05b0ר=ב ר"),
        _HEBREW)),
    (2, Language(
        "hi", "hin", "HINDI", ("UTF-8",),
        _plain("""
            घर नगर समय पर सब जब तब कब अब यह वह एक दस सच फल जल मन तन धन वन
        """),
        _odd(
            "ह\u093fन\u094dद\u0940=ह न द | भ\u093eरत=भ रत | क\u0947=क | म\u0947\u0902=म | ल\u094bग=ल ग | "
            "प\u0941स\u094dतक=प स तक | २०२६=२०२६"
        ),
        _NAGARI, stops=("।", "।", "?"))),
    (1, Language(
        "th", "tha", "THAI", ("UTF-8", "TIS-620"),
        _plain("""
            ไทย ภาษา มา งาน ปลา ทาง นาน คน ชาย สาม หา ตา ยาว รอ ลอง สอง ของ และ เวลา โลก แมว ใจ ไป
        """),
        _odd("กร\u0e38งเทพ=กร งเทพ | ท\u0e35\u0e48=ท | น\u0e49ำ=น ำ | เป\u0e47น=เป น | ๒๕๖๙=๒๕๖๙"),
        _THAI)),
    (2, Language(
        "vi", "vie", "VIETNAMESE", ("UTF-8",),
        _plain("""
            và của là có được trong cho không một với các người này để những khi đã năm tại như ra việt nam hà nội
            nước thành phố ngày mới nhà học sinh tiếng đẹp
        """),
        _odd("VIỆT=việt | Đặng=đặng | tie\u0302\u0301ng=tie ng | ho\u0323c=ho c"),
        _LATIN)),
    (3, Language(
        "ko", "kor", "Korean", ("UTF-8", "EUC-KR"),
        _plain("""
            한국 서울 사람 시간 오늘 내일 세계 나라 학교 회사 정보 검색 결과 서비스 사진 음악 영화 뉴스 날씨 지도 전화
            그리고 하지만 있습니다 합니다 우리는 새로운 좋은 많은 모든
        """),
        _odd("한국-서울=한국 서울 | \u1112\u1161\u11ab=\u1112\u1161\u11ab | e스포츠=e스포츠"),
        _HANGUL)),
)
# fmt: on
